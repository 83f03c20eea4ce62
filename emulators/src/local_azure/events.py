"""What happened, in order: the log that tests assert on."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing an emulator did.

    Attributes:
        at: Seconds since the epoch, by the emulator's clock.
        service: ``servicebus`` or ``cosmos``.
        name: What was done: an operation's name, or what followed from it.
        entity: The queue, or ``database/container``.
        key: The MessageId, or the document's id.
        detail: A status code, a dead-letter reason or the like.
    """

    at: float
    service: str
    name: str
    entity: str
    key: str | None = None
    detail: str | None = None

    def as_json(self) -> dict[str, object]:
        """The event as the admin endpoint shows it."""
        return asdict(self)


class EventLog:
    """The newest events, oldest first; any thread may read, add and clear."""

    def __init__(self, keep: int = 100_000) -> None:
        self._events: deque[Event] = deque(maxlen=keep)
        self._lock = threading.RLock()  # a condition may look into the log

    def add(self, event: Event) -> None:
        """Appends; the oldest event goes when the log is full."""
        with self._lock:
            self._events.append(event)

    def clear(self, which: Callable[[Event], bool] = lambda _: True) -> None:
        """Forgets everything so far, or what a condition names."""
        with self._lock:
            kept = [event for event in self._events if not which(event)]
            self._events.clear()
            self._events.extend(kept)

    def __iter__(self) -> Iterator[Event]:
        with self._lock:
            return iter(tuple(self._events))

    def of(self, name: str, *, entity: str | None = None, key: str | None = None) -> list[Event]:
        """The events of one name, of one entity and key where given."""
        return [
            event
            for event in self
            if event.name == name and entity in (None, event.entity) and key in (None, event.key)
        ]
