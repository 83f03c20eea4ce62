"""Descriptions of rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from local_azure.servicebus.administration.atom import (
    INSTANCE,
    SCHEMA,
    SERVICE_BUS,
    Element,
    element,
    service_bus,
    tag_of,
    timestamp,
)
from local_azure.servicebus.amqp.types import Timestamp
from local_azure.servicebus.broker.durations import format_duration, parse_duration
from local_azure.servicebus.broker.fields import SYSTEM_PROPERTIES
from local_azure.servicebus.broker.rule_sql.action import Action
from local_azure.servicebus.broker.rules import (
    DEFAULT_RULE,
    DEFAULT_RULES,
    CorrelationFilter,
    FalseFilter,
    Filter,
    Rule,
    SqlFilter,
    TrueFilter,
)
from local_azure.servicebus.nodes.management.body import argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TAG = "RuleDescription"
DEFAULT_TAG = "DefaultRuleDescription"
_TYPE = f"{INSTANCE}type"
_PAIR = f"{SERVICE_BUS}KeyValueOfstringanyType"
_LEVEL = service_bus("CompatibilityLevel", "20")


def _read_time(text: str) -> Timestamp:
    moment = datetime.fromisoformat(text)
    return Timestamp((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _whole(bits: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise ValueError(f"{text} has more than {bits} bits")
        return number

    return read


_READERS: dict[str, Callable[[str], object]] = {
    "string": str,
    "int": _whole(32),
    "long": _whole(64),
    "double": float,
    "boolean": lambda text: text.lower() == "true",
    "duration": parse_duration,
    "dateTime": _read_time,
}


def read(description: Element) -> Rule:
    """The rule that is described.

    Raises:
        AmqpError: None that there is.
    """
    if tag_of(description) not in (TAG, DEFAULT_TAG):
        raise argument_error(f"A {TAG} is needed.")
    try:
        return Rule(filter=_read_filter(description), action=_read_action(description))
    except (ValueError, KeyError) as error:
        raise argument_error(f"The rule cannot be used: {error}") from error


def default_rules(subscription: Element) -> Mapping[str, Rule]:
    """The rules that a subscription is described to begin with."""
    given = subscription.find(SERVICE_BUS + DEFAULT_TAG)
    if given is None:
        return DEFAULT_RULES
    return {_text(given, "Name") or DEFAULT_RULE: read(given)}


def _read_filter(description: Element) -> Filter:
    given = description.find(f"{SERVICE_BUS}Filter")
    if given is None:
        return TrueFilter()
    match _type_of(given):
        case "TrueFilter":
            return TrueFilter()
        case "FalseFilter":
            return FalseFilter()
        case "SqlFilter":
            return SqlFilter(expression=_expression(given), parameters=_pairs(given, "Parameters"))
        case "CorrelationFilter":
            system = {name: _text(given, name) for name in SYSTEM_PROPERTIES}
            return CorrelationFilter(
                system={name: value for name, value in system.items() if value is not None},
                user=_pairs(given, "Properties"),
            )
        case other:
            raise ValueError(f"there is no filter {other}")


def _read_action(description: Element) -> Action | None:
    given = description.find(f"{SERVICE_BUS}Action")
    if given is None or _type_of(given) == "EmptyRuleAction":
        return None
    return Action(expression=_expression(given), parameters=_pairs(given, "Parameters"))


def _type_of(given: Element) -> str:
    return given.get(_TYPE, "").rpartition(":")[2]


def _expression(given: Element) -> str:
    return _text(given, "SqlExpression") or ""


def _text(given: Element, tag: str) -> str | None:
    found = given.find(SERVICE_BUS + tag)
    return None if found is None else found.text


def _pairs(given: Element, tag: str) -> dict[str, object]:
    pairs: dict[str, object] = {}
    for pair in given.iterfind(f"{SERVICE_BUS}{tag}/{_PAIR}"):
        value = pair.find(f"{SERVICE_BUS}Value")
        name = _text(pair, "Key")
        if value is None or name is None:
            raise ValueError(f"{tag} have a key and a value each")
        pairs[name] = _READERS[_type_of(value)](value.text or "")
    return pairs


def write(name: str, rule: Rule, created_at: datetime) -> Element:
    """The description of a rule."""
    return element(
        SERVICE_BUS + TAG,
        _write_filter(rule.filter),
        _write_action(rule.action),
        service_bus("CreatedAt", timestamp(created_at)),
        service_bus("Name", name),
    )


def _write_filter(chosen: Filter) -> Element:
    match chosen:
        case SqlFilter():
            return _sql("Filter", "SqlFilter", chosen.expression, chosen.parameters)
        case CorrelationFilter():
            system = [service_bus(name, value) for name, value in chosen.system.items()]
            user = _write_pairs("Properties", chosen.user)
            return _typed("Filter", "CorrelationFilter", *system, user)
        case FalseFilter():
            return _sql("Filter", "FalseFilter", "1=0", {})
        case _:
            return _sql("Filter", "TrueFilter", "1=1", {})


def _write_action(action: Action | None) -> Element:
    if action is None:
        return _typed("Action", "EmptyRuleAction")
    return _sql("Action", "SqlRuleAction", action.expression, action.parameters)


def _sql(tag: str, kind: str, expression: str, parameters: Mapping[str, object]) -> Element:
    written = _write_pairs("Parameters", parameters)
    return _typed(tag, kind, service_bus("SqlExpression", expression), _LEVEL, written)


def _typed(tag: str, kind: str, *children: Element) -> Element:
    return element(SERVICE_BUS + tag, *children, **{_TYPE: kind})


def _write_pairs(tag: str, pairs: Mapping[str, object]) -> Element:
    written = [
        element(_PAIR, service_bus("Key", name), _write_value(value))
        for name, value in pairs.items()
    ]
    return element(SERVICE_BUS + tag, *written)


def _write_value(value: object) -> Element:
    kind, text = _typed_text(value)
    attributes = {_TYPE: f"d6p1:{kind}", "xmlns:d6p1": SCHEMA}
    return element(f"{SERVICE_BUS}Value", text=text, **attributes)


def _typed_text(value: object) -> tuple[str, str]:
    match value:
        case bool():
            return "boolean", str(value).lower()
        case Timestamp():
            return "dateTime", timestamp(datetime.fromtimestamp(value / 1000, UTC))
        case int():
            return ("int" if -(2**31) <= value < 2**31 else "long"), str(value)
        case float():
            return "double", repr(value)
        case timedelta():
            return "duration", format_duration(value)
        case _:
            return "string", str(value)
