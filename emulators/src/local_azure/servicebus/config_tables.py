"""What may stand in a ``Config.json``, and within which limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from local_azure.servicebus.broker.checks import FROM_CONFIG, flag, optional_name
from local_azure.servicebus.broker.durations import parse_duration
from local_azure.servicebus.broker.fields import SYSTEM_PROPERTIES
from local_azure.servicebus.broker.rule_sql.action import Action
from local_azure.servicebus.broker.rules import CorrelationFilter, Filter, Rule, SqlFilter

Table: TypeAlias = Mapping[str, tuple[str, Callable[[object], Any]]]
"""By the name of a property: our field, and how its value is read; ``ValueError`` if it cannot."""


def _duration(name: str) -> tuple[str, Callable[[object], Any]]:
    return name, lambda value: FROM_CONFIG[name].checked(parse_duration(value))


_LIFETIME = _duration("default_message_time_to_live")

TOPIC: Table = {
    "DefaultMessageTimeToLive": _LIFETIME,
    "RequiresDuplicateDetection": ("requires_duplicate_detection", flag),
    "DuplicateDetectionHistoryTimeWindow": _duration("duplicate_detection_history_time_window"),
}

SUBSCRIPTION: Table = {
    "DefaultMessageTimeToLive": _LIFETIME,
    "LockDuration": _duration("lock_duration"),
    "MaxDeliveryCount": ("max_delivery_count", FROM_CONFIG["max_delivery_count"].checked),
    "DeadLetteringOnMessageExpiration": ("dead_lettering_on_message_expiration", flag),
    "RequiresSession": ("requires_session", flag),
    "ForwardTo": ("forward_to", optional_name),
    "ForwardDeadLetteredMessagesTo": ("forward_dead_lettered_messages_to", optional_name),
}

QUEUE: Table = {**TOPIC, **SUBSCRIPTION}


def rule(properties: dict[str, object]) -> Rule:
    """The rule that its properties describe; ``ValueError`` if they cannot."""
    known = {"FilterType", "SqlFilter", "CorrelationFilter", "Action"}
    if unknown := sorted(properties.keys() - known):
        raise ValueError(f"{', '.join(unknown)}: no such property")
    action = properties.get("Action")
    return Rule(
        filter=_filter(properties),
        action=None if action is None else Action(expression=_expression(action, "Action")),
    )


def _filter(properties: dict[str, object]) -> Filter:
    match properties.get("FilterType"):
        case "Sql":
            return SqlFilter(expression=_expression(properties.get("SqlFilter"), "SqlFilter"))
        case "Correlation":
            return _correlation(properties.get("CorrelationFilter"))
        case other:
            raise ValueError(f"FilterType: {other!r} is neither 'Sql' nor 'Correlation'")


def _expression(value: object, where: str) -> str:
    expression = value.get("SqlExpression") if isinstance(value, dict) else None
    if not isinstance(expression, str):
        raise ValueError(f"{where}: SqlExpression is needed")
    return expression


def _correlation(value: object) -> CorrelationFilter:
    given = dict(value) if isinstance(value, dict) else {}
    user = given.pop("Properties", None) or {}
    if not isinstance(user, dict) or not given.keys() <= set(SYSTEM_PROPERTIES):
        raise ValueError("CorrelationFilter: only properties of a message can stand there")
    return CorrelationFilter(system=given, user=user)
