"""Descriptions of entities: their properties, what is only shown again, and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.administration.atom import (
    COUNTS,
    SERVICE_BUS,
    Element,
    element,
    service_bus,
    tag_of,
    timestamp,
)
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker import checks
from local_azure.servicebus.broker.checks import FROM_MANAGEMENT
from local_azure.servicebus.broker.durations import format_duration, parse_duration
from local_azure.servicebus.broker.rules import CorrelationFilter, SqlFilter
from local_azure.servicebus.nodes.management.body import argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local_azure.servicebus.broker.properties import (
        EntityProperties,
    )
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.broker.topic import Topic
    from local_azure.servicebus.nodes.content import WireContent

_FOREVER = timedelta(days=10_675_199, hours=2, minutes=48, seconds=5, microseconds=477_580)
_MAX_USER_METADATA = 1024


@dataclass(frozen=True, slots=True)
class _Property:
    """A property: its element, our field, how its text is read and written."""

    tag: str
    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def _show_flag(value: bool) -> str:
    return str(value).lower()


def _flags(tag: str, name: str) -> _Property:
    return _Property(tag, name, _flag, _show_flag)


def _duration(tag: str, name: str) -> _Property:
    return _Property(tag, name, parse_duration, format_duration)


def _idle(text: str) -> object:
    return FROM_MANAGEMENT["auto_delete_on_idle"].checked(parse_duration(text))


def _metadata(text: str) -> str:
    if len(text) > _MAX_USER_METADATA:
        raise ValueError(f"{len(text)} characters are more than {_MAX_USER_METADATA}")
    return text


def _message_size(text: str) -> str:
    if text != _MESSAGE_KILOBYTES:
        raise ValueError(f"{text!r} is not {_MESSAGE_KILOBYTES}, as it is below the premium tier")
    return text


_LIFETIME = _duration("DefaultMessageTimeToLive", "default_message_time_to_live")
_SENDABLE = (
    _Property("MaxSizeInMegabytes", "max_size_in_megabytes", int),
    _flags("RequiresDuplicateDetection", "requires_duplicate_detection"),
    _LIFETIME,
    _duration("DuplicateDetectionHistoryTimeWindow", "duplicate_detection_history_time_window"),
    _Property("Status", "status", checks.status),
)
_RECEIVABLE = (
    _duration("LockDuration", "lock_duration"),
    _flags("RequiresSession", "requires_session"),
    _flags("DeadLetteringOnMessageExpiration", "dead_lettering_on_message_expiration"),
    _Property("MaxDeliveryCount", "max_delivery_count", int),
    _Property("ForwardTo", "forward_to", str),
    _Property("ForwardDeadLetteredMessagesTo", "forward_dead_lettered_messages_to", str),
)
_SUBSCRIPTION = (
    *_RECEIVABLE,
    _LIFETIME,
    _Property("Status", "status", checks.status),
    _flags(
        "DeadLetteringOnFilterEvaluationExceptions",
        "dead_lettering_on_filter_evaluation_exceptions",
    ),
)

_DEFAULTS: dict[str, Any] = {
    "default_message_time_to_live": _FOREVER,
    "duplicate_detection_history_time_window": timedelta(minutes=10),
    "max_size_in_megabytes": 1024,
}
"""The service's, where they differ from those of Microsoft's emulator."""

_MESSAGE_KILOBYTES = "256"
_SHOWN = {
    "EnableBatchedOperations": "true",
    "AutoDeleteOnIdle": format_duration(_FOREVER),
    "EntityAvailabilityStatus": "Available",
    "UserMetadata": "",
    "SupportOrdering": "true",
    "MaxMessageSizeInKilobytes": _MESSAGE_KILOBYTES,
}
"""What is kept and shown again without any effect, and its default."""

_SHOWN_CHECKS: Mapping[str, Callable[[str], object]] = {
    "EnableBatchedOperations": _flag,
    "AutoDeleteOnIdle": _idle,
    "UserMetadata": _metadata,
    "SupportOrdering": _flag,
    "MaxMessageSizeInKilobytes": _message_size,
}

_REFUSED = ("EnablePartitioning", "EnableExpress", "AuthorizationRules")
_COMPUTED = frozenset(
    {
        *("SizeInBytes", "MessageCount", "CountDetails", "CreatedAt", "UpdatedAt", "AccessedAt"),
        *("SubscriptionCount", "SqlFilterCount", "CorrelationFilterCount"),
        *("IsAnonymousAccessible", "FilteringMessagesBeforePublishing"),
        *("EnableSubscriptionPartitioning", "DefaultRuleDescription"),
    }
)
"""What clients send back as they got it, or what is read elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of entity: its element, its properties and their defaults."""

    tag: str
    properties: tuple[_Property, ...]
    defaults: Mapping[str, Any]


QUEUE = Kind(
    tag="QueueDescription",
    properties=(*_RECEIVABLE, *_SENDABLE),
    defaults={**_DEFAULTS, "max_delivery_count": 10},
)
TOPIC = Kind(tag="TopicDescription", properties=_SENDABLE, defaults=_DEFAULTS)
SUBSCRIPTION = Kind(
    tag="SubscriptionDescription",
    properties=_SUBSCRIPTION,
    defaults={"default_message_time_to_live": _FOREVER, "max_delivery_count": 10},
)


@dataclass(slots=True)
class Record:
    """What is remembered of an entity only to be shown."""

    shown: dict[str, str] = field(default_factory=dict)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated_at: datetime = field(default_factory=lambda: datetime.now(UTC))


def read(
    kind: Kind, description: Element, before: EntityProperties | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The properties that a description sets, and what it asks to be shown again.

    Args:
        kind: What is described.
        description: Its description.
        before: Its properties until now; what stays as it is may be outside of the limits.

    Raises:
        AmqpError: A property is unknown, out of its limits or not emulated.
    """
    if tag_of(description) != kind.tag:
        raise argument_error(f"A {kind.tag} is needed.")
    known = {each.tag: each for each in kind.properties}
    properties: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for child in description:
        tag, text = tag_of(child), child.text or ""
        if tag in known:
            properties[known[tag].name] = _read(known[tag], text, before)
        elif tag in _SHOWN:
            shown[tag] = _shown(tag, text)
        elif tag in _REFUSED:
            _refuse(tag, child)
        elif tag not in _COMPUTED:
            raise argument_error(f"There is no property {tag}.")
    return properties, shown


def _read(known: _Property, text: str, before: EntityProperties | None) -> object:
    if not text and known.read is str:
        return None
    try:
        value = known.read(text)
        if known.name in FROM_MANAGEMENT and value != getattr(before, known.name, None):
            FROM_MANAGEMENT[known.name].checked(value)
    except ValueError as error:
        raise argument_error(f"{known.tag}: {error}") from error
    return value


def _shown(tag: str, text: str) -> str:
    try:
        _SHOWN_CHECKS.get(tag, str)(text)
    except ValueError as error:
        raise argument_error(f"{tag}: {error}") from error
    return text


def _refuse(tag: str, child: Element) -> None:
    if len(child) or (child.text or "false").strip().lower() not in ("", "false"):
        raise AmqpError("amqp:not-implemented", f"{tag} is not emulated.")


def write(kind: Kind, properties: EntityProperties, record: Record, *counts: Element) -> Element:
    """The description of an entity."""
    values = [
        service_bus(each.tag, each.write(value))
        for each in kind.properties
        if (value := getattr(properties, each.name)) is not None
    ]
    shown = [service_bus(tag, text) for tag, text in ({**_SHOWN, **record.shown}).items()]
    times = [
        service_bus(tag, timestamp(moment))
        for tag, moment in (
            ("CreatedAt", record.created_at),
            ("UpdatedAt", record.updated_at),
            ("AccessedAt", record.updated_at),
        )
    ]
    return element(SERVICE_BUS + kind.tag, *values, *shown, *times, *counts)


def queue_counts(queue: Queue[WireContent]) -> list[Element]:
    """The numbers of messages in a queue, or the queue of a subscription."""
    transfer = queue.transfer_dead_letters
    details = {
        "ActiveMessageCount": queue.active_count + queue.locked_count,
        "DeadLetterMessageCount": queue.dead_letter_count,
        "ScheduledMessageCount": queue.scheduled_count,
        "TransferMessageCount": 0,
        "TransferDeadLetterMessageCount": 0 if transfer is None else len(transfer.messages),
    }
    total = len(queue.messages) + queue.dead_letter_count
    return [
        service_bus("SizeInBytes", str(queue.total_size())),
        service_bus("MessageCount", str(total)),
        _details(details),
    ]


def topic_counts(topic: Topic[WireContent]) -> list[Element]:
    """What a topic has: bytes, subscriptions, rules and scheduled messages."""
    subscriptions = topic.subscriptions.values()
    filters = [rule.filter for each in subscriptions for rule in each.rules.values()]
    counts = {
        "SizeInBytes": topic.total_size(),
        "SubscriptionCount": len(subscriptions),
        "SqlFilterCount": sum(isinstance(each, SqlFilter) for each in filters),
        "CorrelationFilterCount": sum(isinstance(each, CorrelationFilter) for each in filters),
    }
    details = {"ActiveMessageCount": 0, "ScheduledMessageCount": topic.scheduled_count}
    return [*(service_bus(tag, str(n)) for tag, n in counts.items()), _details(details)]


def _details(counts: Mapping[str, int]) -> Element:
    numbers = (element(COUNTS + tag, text=str(number)) for tag, number in counts.items())
    return element(f"{SERVICE_BUS}CountDetails", *numbers)
