"""A message in a queue, as far as the queue is concerned."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from uuid import UUID

    from local_azure.servicebus.broker.fields import Changes, Fields


class Content(Protocol):
    """What the queue has to know of a message that was sent.

    Attributes:
        message_id: Duplicates are told by it.
        session_id: The session that it belongs to.
        time_to_live: Seconds; ``None`` leaves it to the queue.
        scheduled_for: When it is to become active; ``None`` or the past for at once.
        size: Bytes on the wire.
        properties_size: Bytes of all but the body.
        fields: What rules look at.
    """

    @property
    def message_id(self) -> str | None: ...
    @property
    def session_id(self) -> str | None: ...
    @property
    def time_to_live(self) -> float | None: ...
    @property
    def scheduled_for(self) -> float | None: ...
    @property
    def size(self) -> int: ...
    @property
    def properties_size(self) -> int: ...
    @property
    def fields(self) -> Fields: ...

    def largest_property_size(self) -> int:
        """Bytes of the largest property of the sender's, its name included."""

    def changed(self, changes: Changes) -> Self:
        """The same message with other properties; raises `AmqpError` if it cannot have them."""

    def lasting(self, seconds: float) -> Self:
        """The same message with another time to live."""


C = TypeVar("C", bound=Content)
"""What was sent; the queue hands it on without looking inside."""


class State(IntEnum):
    """What a message waits for; the numbers are those of ``x-opt-message-state``."""

    ACTIVE = 0
    DEFERRED = 1
    SCHEDULED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A receiver's exclusive right to settle a message, until a time.

    Attributes:
        holder: Whose it is, as who asked for it says; no more than compared.
    """

    token: UUID
    until: float
    holder: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """Why a message is in the dead-letter queue, and where it came from."""

    reason: str
    description: str
    source: str


@dataclass(slots=True, kw_only=True, eq=False)
class Message(Generic[C]):
    """A message in a queue.

    Attributes:
        enqueued_sequence_number: Its number where it was sent to, before any forwarding.
        hops: How often it was forwarded.
    """

    content: C
    sequence_number: int
    enqueued_at: float
    expires_at: float
    enqueued_sequence_number: int = 0
    hops: int = 0
    state: State = State.ACTIVE
    delivery_count: int = 0
    lock: Lock | None = None
    dead_letter: DeadLetter | None = None

    @property
    def message_id(self) -> str | None:
        """The sender's name for it."""
        return self.content.message_id

    @property
    def session_id(self) -> str | None:
        """The session that it belongs to."""
        return self.content.session_id
