"""A message in a queue, as far as the queue is concerned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from uuid import UUID


class Content(Protocol):
    """What the queue has to know of a message that was sent.

    Attributes:
        message_id: Duplicates are told by it.
        time_to_live: Seconds; ``None`` leaves it to the queue.
        size: Bytes on the wire.
    """

    @property
    def message_id(self) -> str | None: ...
    @property
    def time_to_live(self) -> float | None: ...
    @property
    def size(self) -> int: ...


C = TypeVar("C", bound=Content)
"""What was sent; the queue hands it on without looking inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A receiver's exclusive right to settle a message, until a time."""

    token: UUID
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """Why a message is in the dead-letter queue, and where it came from."""

    reason: str
    description: str
    source: str


@dataclass(slots=True, kw_only=True, eq=False)
class Message(Generic[C]):
    """A message in a queue."""

    content: C
    sequence_number: int
    enqueued_at: float
    expires_at: float
    delivery_count: int = 0
    lock: Lock | None = None
    dead_letter: DeadLetter | None = None

    @property
    def message_id(self) -> str | None:
        """The sender's name for it."""
        return self.content.message_id
