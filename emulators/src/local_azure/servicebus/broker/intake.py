"""What every entity that can be sent to does with what is sent. No I/O, no clock.

Every operation is told the time, and first lets happen what was due by then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Generic
from uuid import UUID

from local_azure.events import Event, EventLog
from local_azure.servicebus.broker.agenda import NEVER, Agenda
from local_azure.servicebus.broker.duplicates import History
from local_azure.servicebus.broker.limits import check_content, check_size, check_status
from local_azure.servicebus.broker.message import C, Message, State
from local_azure.servicebus.broker.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from local_azure.servicebus.broker.backlog import Line
    from local_azure.servicebus.broker.properties import EntityProperties


Due = int | UUID | str
"""What happens in time: to a message by its number, to a lock by its token, to a session."""

_ENDLESS = 1e11
"""Seconds from which on a lifetime is none: the service writes "for ever" as 29,000 years."""


class Intake(ABC, Generic[C]):
    """An entity that can be sent to.

    Attributes:
        name: Its path in the namespace.
        on_due: Told of times at which something will have to happen, before anything else known.
    """

    def __init__(self, name: str, properties: EntityProperties, events: EventLog) -> None:
        self.name = name
        self.properties = properties
        self.on_due: Callable[[float], None] = lambda moment: None
        self._events = events
        self._store: Store[C] = Store()
        self._agenda: Agenda[Due] = Agenda()
        self._history = History()

    @abstractmethod
    def _enqueue(self, message: Message[C], now: float) -> None:
        """Does with an active message what the entity is for."""

    @abstractmethod
    def total_size(self) -> int:
        """Bytes of all messages that count as this entity's."""

    # ------------------------------------------------------------ looking

    @property
    def messages(self) -> tuple[Message[C], ...]:
        """All messages, locked ones among them, in order."""
        return tuple(self._store.by_number.values())

    @property
    def size(self) -> int:
        """Bytes of the messages in it."""
        return self._store.size

    @property
    def scheduled_count(self) -> int:
        """Messages that will become active."""
        return self._store.count(State.SCHEDULED)

    def peek(self, from_number: int, count: int, now: float, line: Line = None) -> list[Message[C]]:
        """Messages in any state from a number on, of one session or of all."""
        self.expire(now)
        return self._store.first(
            count,
            lambda message: (
                message.sequence_number >= from_number and line in (None, message.session_id)
            ),
        )

    # ------------------------------------------------------------ sending

    def send(self, contents: Sequence[C], now: float) -> list[int]:
        """Takes messages in, all or none; copies of earlier ones are dropped silently.

        Returns:
            Their sequence numbers, 0 for a copy.

        Raises:
            AmqpError: A message is not acceptable, or the queue is full or closed to senders.
        """
        self.expire(now)
        check_status(self.name, self.properties.status, "SendDisabled")
        for content in contents:
            self._check_sent(content)
        self._check_room(contents)
        return [self._accept(content, now) for content in contents]

    def forget(self, contents: Iterable[C]) -> None:
        """Lets duplicate detection forget the ids of messages, so that copies are none."""
        for content in contents:
            self._history.forget(content.message_id or "")

    def take_over(self, message: Message[C], now: float) -> None:
        """Takes in a message that another entity forwards; raises as `send` does."""
        self.expire(now)
        check_content(message.content)
        self._check_room([message.content])
        if self._is_duplicate(message.message_id, now):
            self._log("duplicate_dropped", now, message.message_id)
            return
        self._enqueue(self._arrived(message, now), now)

    def cancel(self, numbers: Iterable[int], now: float) -> None:
        """Removes scheduled messages, all or none.

        Raises:
            AmqpError: One of them is not scheduled, or no longer.
        """
        self.expire(now)
        for message in self._store.found(State.SCHEDULED, numbers):
            self._remove(message)
            self._log("cancelled", now, message.message_id)

    def _check_sent(self, content: C) -> None:
        check_content(content)

    def _check_room(self, contents: Iterable[C]) -> None:
        size = self.total_size() + sum(content.size for content in contents)
        check_size(self.name, size, self.properties.max_size_in_megabytes)

    def _is_duplicate(self, message_id: str | None, now: float) -> bool:
        if not self.properties.requires_duplicate_detection or not message_id:
            return False
        window = self.properties.duplicate_detection_history_time_window.total_seconds()
        return not self._history.is_new(message_id, now, window)

    def _accept(self, content: C, now: float) -> int:
        if self._is_duplicate(content.message_id, now):
            self._log("duplicate_dropped", now, content.message_id)
            return 0
        moment = content.scheduled_for
        if moment is not None and moment > now:
            return self._schedule(content, moment, now)
        message = self._new(content, now)
        self._enqueue(message, now)
        return message.sequence_number

    def _new(self, content: C, now: float) -> Message[C]:
        number = self._store.number()
        return Message(
            content=self._limited(content),
            sequence_number=number,
            enqueued_sequence_number=number,
            enqueued_at=now,
            expires_at=self._expiration(content, now),
        )

    def _arrived(self, message: Message[C], now: float) -> Message[C]:
        return replace(
            message,
            content=self._limited(message.content),
            sequence_number=self._store.number(),
            enqueued_at=now,
            expires_at=min(message.expires_at, self._expiration(message.content, now)),
            delivery_count=0,
        )

    def _limited(self, content: C) -> C:
        """A message that lives no longer than those of this entity may."""
        ceiling = self.properties.default_message_time_to_live.total_seconds()
        is_over = content.time_to_live is not None and content.time_to_live > ceiling
        return content.lasting(ceiling) if is_over else content

    def _expiration(self, content: C, now: float) -> float:
        ceiling = self.properties.default_message_time_to_live.total_seconds()
        own = ceiling if content.time_to_live is None else content.time_to_live
        return now + min(own, ceiling) if min(own, ceiling) < _ENDLESS else NEVER

    def _schedule(self, content: C, moment: float, now: float) -> int:
        message = self._new(content, now)
        message.state = State.SCHEDULED
        self._store.add(message)
        self._at(moment, message.sequence_number)
        self._log("scheduled", now, message.message_id)
        return message.sequence_number

    def _activate_scheduled(self, message: Message[C], now: float) -> None:
        """Enqueues a message anew, under a new number, as if it were sent when it was due."""
        self._remove(message)
        self._log("activated", now, message.message_id)
        due = message.content.scheduled_for
        self._enqueue(self._new(message.content, now if due is None else due), now)

    def _remove(self, message: Message[C]) -> None:
        """Forgets a message, and what was to happen to it."""
        self._store.remove(message)
        self._agenda.cancel(message.sequence_number)

    # ------------------------------------------------------------ time

    def expire(self, now: float) -> None:
        """Lets happen what is due: locks lapse, lifetimes end, scheduled messages are sent."""
        for due in self._agenda.due(now):
            self._happen(due, now)

    def _happen(self, due: Due, now: float) -> None:
        """Lets happen what is due: here, the time of a message has come."""
        if isinstance(due, int):
            self._activate_scheduled(self._store.by_number[due], now)

    def next_due(self) -> float:
        """When `expire` has something to do next; infinity for never."""
        return self._agenda.next()

    def _at(self, moment: float, due: Due) -> None:
        if moment < self.next_due():
            self.on_due(moment)
        self._agenda.add(moment, due)

    def _log(self, name: str, now: float, key: str | None, detail: str | None = None) -> None:
        self._events.add(
            Event(at=now, service="servicebus", name=name, entity=self.name, key=key, detail=detail)
        )
