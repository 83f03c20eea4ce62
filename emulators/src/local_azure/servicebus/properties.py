"""What entities are configured to do; the defaults are those of Microsoft's emulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from local_azure.servicebus.rules import DEFAULT_RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

EntityStatus = Literal["Active", "Disabled", "SendDisabled", "ReceiveDisabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProperties:
    """The properties of whatever can be sent to."""

    default_message_time_to_live: timedelta = timedelta(hours=1)
    requires_duplicate_detection: bool = False
    duplicate_detection_history_time_window: timedelta = timedelta(seconds=20)
    max_size_in_megabytes: int = 100
    status: EntityStatus = "Active"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueProperties(EntityProperties):
    """The properties of a queue.

    Attributes:
        forward_to: The queue or topic that gets every message instead of receivers here.
        forward_dead_lettered_messages_to: The same for dead letters.
    """

    lock_duration: timedelta = timedelta(minutes=1)
    max_delivery_count: int = 3
    dead_lettering_on_message_expiration: bool = False
    requires_session: bool = False
    forward_to: str | None = None
    forward_dead_lettered_messages_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionProperties(QueueProperties):
    """The properties of a subscription, which is a queue of its own.

    Attributes:
        rules: Which of the topic's messages it gets, by name; left out, all of them.
        dead_lettering_on_filter_evaluation_exceptions: What a rule cannot judge is a dead letter.
    """

    rules: Mapping[str, Rule] = field(default_factory=lambda: DEFAULT_RULES)
    dead_lettering_on_filter_evaluation_exceptions: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicProperties(EntityProperties):
    """The properties of a topic.

    Attributes:
        subscriptions: Its subscriptions by name.
    """

    subscriptions: Mapping[str, SubscriptionProperties] = field(default_factory=dict)
