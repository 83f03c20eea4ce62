"""Requests about the rules of a subscription."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Described, Int, Long, Timestamp, ULong
from local_azure.servicebus.broker.entities import not_found
from local_azure.servicebus.broker.names import check_rule_name
from local_azure.servicebus.broker.rule_sql.action import Action
from local_azure.servicebus.broker.rules import (
    CorrelationFilter,
    FalseFilter,
    Filter,
    Rule,
    SqlFilter,
    TrueFilter,
)
from local_azure.servicebus.nodes.management.body import (
    Body,
    argument_error,
    natural,
    optional,
    required,
)

if TYPE_CHECKING:
    from local_azure.servicebus.broker.topic import Subscription
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.management.plan import Asked, Plan

_RULE = ULong(0x13700000004)
_NO_ACTION, _SQL_ACTION = ULong(0x13700000005), ULong(0x13700000006)
_SQL, _TRUE, _FALSE, _CORRELATION = (ULong(0x1370000000 + code) for code in range(6, 10))
_COMPATIBILITY = Int(20)

_CORRELATION_FIELDS = {
    "correlation-id": "CorrelationId",
    "message-id": "MessageId",
    "to": "To",
    "reply-to": "ReplyTo",
    "label": "Label",
    "session-id": "SessionId",
    "reply-to-session-id": "ReplyToSessionId",
    "content-type": "ContentType",
}
"""In the order in which a correlation filter is written."""


def add_rule(asked: Asked[Subscription[WireContent]]) -> Plan:
    """Adds a rule."""
    name = required(asked.body, "rule-name", str)
    try:
        check_rule_name(name)
        rule = _rule(required(asked.body, "rule-description", dict))
    except ValueError as error:
        raise argument_error(str(error)) from error

    def add() -> Body:
        if name in asked.entity.rules:
            text = f"The rule '{name}' already exists."
            raise AmqpError("com.microsoft:entity-already-exists", text)
        asked.entity.rules[name] = rule
        return {}

    return asked.plan(add, keys=[name])


def remove_rule(asked: Asked[Subscription[WireContent]]) -> Plan:
    """Removes a rule."""
    name = required(asked.body, "rule-name", str)

    def remove() -> Body:
        if asked.entity.rules.pop(name, None) is None:
            raise not_found(name)
        return {}

    return asked.plan(remove, keys=[name])


def enumerate_rules(asked: Asked[Subscription[WireContent]]) -> Plan:
    """Lists rules, a page at a time."""
    skip, top = natural(asked.body, "skip"), natural(asked.body, "top")

    def listed() -> Body | None:
        page = list(asked.entity.rules.items())[skip : skip + top]
        rules = [{"rule-description": _described(name, rule)} for name, rule in page]
        return {"rules": rules} if rules else None

    return asked.plan(listed)


def _rule(description: Body) -> Rule:
    action = optional(description, "sql-rule-action", dict) or {}
    expression = optional(action, "expression", str)
    return Rule(
        filter=_filter(description),
        action=Action(expression=expression) if expression else None,
    )


def _filter(description: Body) -> Filter:
    kinds = [name for name in description if str(name).endswith("-filter")]
    match kinds:
        case ["sql-filter"]:
            sql = required(description, "sql-filter", dict)
            return SqlFilter(expression=required(sql, "expression", str))
        case ["correlation-filter"]:
            return _correlation(required(description, "correlation-filter", dict))
        case ["true-filter"]:
            return TrueFilter()
        case ["false-filter"]:
            return FalseFilter()
        case _:
            raise argument_error("A rule has one filter: sql, correlation, true or false.")


def _correlation(given: Body) -> CorrelationFilter:
    system = {ours: optional(given, name, str) for name, ours in _CORRELATION_FIELDS.items()}
    user = optional(given, "properties", dict) or {}
    return CorrelationFilter(
        system={name: value for name, value in system.items() if value is not None},
        user={str(name): value for name, value in user.items()},
    )


def _described(name: str, rule: Rule) -> Described:
    action = Described(_NO_ACTION, [])
    if rule.action is not None:
        action = Described(_SQL_ACTION, [rule.action.expression, _COMPATIBILITY])
    return Described(_RULE, [_described_filter(rule.filter), action, name, Timestamp(0)])


def _described_filter(chosen: Filter) -> Described:
    match chosen:
        case SqlFilter():
            return Described(_SQL, [chosen.expression, _COMPATIBILITY])
        case CorrelationFilter():
            values = [chosen.system.get(name) for name in _CORRELATION_FIELDS.values()]
            user = {name: _shown(value) for name, value in chosen.user.items()}
            return Described(_CORRELATION, [*values, user])
        case FalseFilter():
            return Described(_FALSE, [])
        case _:
            return Described(_TRUE, [])


def _shown(value: object) -> object:
    """A value from Python or the management API as a message would have it, or as text."""
    match value:
        case int() if type(value) is int:
            return Long(value)
        case timedelta():
            return str(value)
        case _:
            return value
