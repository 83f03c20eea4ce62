"""What may stand in a ``Config.json``, and within which limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from local_azure.servicebus.durations import parse_duration
from local_azure.servicebus.fields import SYSTEM_PROPERTIES
from local_azure.servicebus.rule_sql.action import Action
from local_azure.servicebus.rules import CorrelationFilter, Filter, Rule, SqlFilter

if TYPE_CHECKING:
    from datetime import timedelta

Table: TypeAlias = Mapping[str, tuple[str, Callable[[object], Any]]]
"""By the name of a property: our field, and how its value is read; ``ValueError`` if it cannot."""


def _duration(shortest: str, longest: str) -> Callable[[object], timedelta]:
    low, high = parse_duration(shortest), parse_duration(longest)

    def read(value: object) -> timedelta:
        duration = parse_duration(value)
        if not low <= duration <= high:
            raise ValueError(f"{value} is not within {shortest} to {longest}")
        return duration

    return read


def _count(value: object) -> int:
    if type(value) is not int or not 1 <= value <= 10:
        raise ValueError(f"{value!r} is not within 1 to 10")
    return value


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _name(value: object) -> str | None:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no name")
    return value or None


_LIFETIME = ("default_message_time_to_live", _duration("PT5M", "PT1H"))

TOPIC: Table = {
    "DefaultMessageTimeToLive": _LIFETIME,
    "RequiresDuplicateDetection": ("requires_duplicate_detection", _flag),
    "DuplicateDetectionHistoryTimeWindow": (
        "duplicate_detection_history_time_window",
        _duration("PT5S", "PT5M"),
    ),
}

SUBSCRIPTION: Table = {
    "DefaultMessageTimeToLive": _LIFETIME,
    "LockDuration": ("lock_duration", _duration("PT5S", "PT5M")),
    "MaxDeliveryCount": ("max_delivery_count", _count),
    "DeadLetteringOnMessageExpiration": ("dead_lettering_on_message_expiration", _flag),
    "RequiresSession": ("requires_session", _flag),
    "ForwardTo": ("forward_to", _name),
    "ForwardDeadLetteredMessagesTo": ("forward_dead_lettered_messages_to", _name),
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
