"""What entities are configured to do; the defaults are those of Microsoft's emulator."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.broker import checks
from local_azure.servicebus.broker.checks import FROM_PYTHON, EntityStatus
from local_azure.servicebus.broker.rules import DEFAULT_RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "EntityProperties",
    "EntityStatus",
    "QueueProperties",
    "SubscriptionProperties",
    "TopicProperties",
]

_CHECKS: Mapping[str, Callable[[object], Any]] = {
    **{name: allowed.checked for name, allowed in FROM_PYTHON.items()},
    "requires_duplicate_detection": checks.flag,
    "requires_session": checks.flag,
    "dead_lettering_on_message_expiration": checks.flag,
    "dead_lettering_on_filter_evaluation_exceptions": checks.flag,
    "status": checks.status,
    "forward_to": checks.optional_name,
    "forward_dead_lettered_messages_to": checks.optional_name,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProperties:
    """The properties of whatever can be sent to.

    Raises:
        ValueError: One of them is not within its limits.
    """

    default_message_time_to_live: timedelta = timedelta(hours=1)
    requires_duplicate_detection: bool = False
    duplicate_detection_history_time_window: timedelta = timedelta(seconds=20)
    max_size_in_megabytes: int = 100
    status: EntityStatus = "Active"

    def __post_init__(self) -> None:
        """Refuses properties that no entity can have."""
        for each in fields(self):
            if each.name in _CHECKS:
                try:
                    _CHECKS[each.name](getattr(self, each.name))
                except ValueError as error:
                    raise ValueError(f"{each.name}: {error}") from error


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

    def __post_init__(self) -> None:
        """Refuses also what does not go together."""
        EntityProperties.__post_init__(self)
        if self.requires_session and self.forward_to:
            raise ValueError("forward_to: an entity that requires sessions cannot forward")


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
