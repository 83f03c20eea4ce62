"""A queue: what is active, what is locked, and what time does to both. No I/O, no clock.

Every operation is told the time, and first lets happen what was due by then.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, Protocol
from uuid import UUID, uuid4

from local_azure.events import Event, EventLog
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.duplicates import History
from local_azure.servicebus.message import C, DeadLetter, Lock, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from local_azure.servicebus.properties import QueueProperties

MAX_ENTITY_SIZE = 100 * 1024 * 1024
MAX_MESSAGE_ID_LENGTH = 128
MAX_DEAD_LETTER_TEXT = 4096
DEAD_LETTER_SUFFIX = "/$DeadLetterQueue"


class Listener(Protocol):
    """Who wants to know of a queue's changes. Called inside of operations: must only take note."""

    def available(self) -> None:
        """There are messages to receive, perhaps after a while without any."""

    def due(self, moment: float) -> None:
        """Something will have to happen at that time, before anything else known so far."""


class _Nobody:
    """The listener of a queue that nobody listens to."""

    def available(self) -> None:
        pass

    def due(self, moment: float) -> None:
        pass


class Queue(Generic[C]):
    """A queue, or the dead-letter queue of one.

    Messages of a dead-letter queue do not expire, may be delivered without limit and can be
    moved no further.

    Attributes:
        name: Its path in the namespace.
        dead_letters: Its dead-letter queue; ``None`` if it is one.
        listener: Told of changes.
    """

    def __init__(
        self,
        name: str,
        properties: QueueProperties,
        events: EventLog,
        dead_letters: Queue[C] | None = None,
    ) -> None:
        self.name = name
        self.properties = properties
        self.listener: Listener = _Nobody()
        self.dead_letters = dead_letters
        self.size = 0
        self._events = events
        self._next_sequence_number = 1
        self._messages: dict[int, Message[C]] = {}
        self._active: list[int] = []
        self._locked: dict[UUID, Message[C]] = {}
        self._lock_ends: list[tuple[float, UUID]] = []
        self._expirations: list[tuple[float, int]] = []
        self._history = History(properties.duplicate_detection_history_time_window.total_seconds())

    # ------------------------------------------------------------ looking

    @property
    def messages(self) -> tuple[Message[C], ...]:
        """All messages, locked ones among them, in order."""
        return tuple(message for _, message in sorted(self._messages.items()))

    @property
    def active_count(self) -> int:
        """Messages that may be received."""
        return len(self._messages) - len(self._locked)

    @property
    def locked_count(self) -> int:
        """Messages that a receiver holds."""
        return len(self._locked)

    @property
    def dead_letter_count(self) -> int:
        """Messages in the dead-letter queue."""
        return 0 if self.dead_letters is None else len(self.dead_letters._messages)

    def head(self, now: float) -> Message[C] | None:
        """The message that is received next."""
        self.expire(now)
        while self._active and self._active[0] not in self._messages:
            heappop(self._active)
        return self._messages[self._active[0]] if self._active else None

    def locked(self, token: UUID) -> Message[C] | None:
        """The message that a lock holds, if it still does."""
        return self._locked.get(token)

    # ------------------------------------------------------------ sending

    def send(self, contents: Sequence[C], now: float) -> None:
        """Takes messages in, all or none; copies of earlier ones are dropped silently.

        Raises:
            AmqpError: A message is not acceptable, or the queue is full.
        """
        self.expire(now)
        self._check(contents)
        for content in contents:
            if self._is_duplicate(content.message_id, now):
                self._log("duplicate_dropped", now, content.message_id)
            else:
                self._enqueue(content, now)

    def _check(self, contents: Iterable[C]) -> None:
        size = self._entity_size()
        for content in contents:
            if len(content.message_id or "") > MAX_MESSAGE_ID_LENGTH:
                raise AmqpError(
                    "com.microsoft:argument-error",
                    f"The length of MessageId cannot exceed {MAX_MESSAGE_ID_LENGTH} characters.",
                )
            size += content.size
        if size > MAX_ENTITY_SIZE:
            raise AmqpError(
                "amqp:resource-limit-exceeded",
                f"The maximum entity size has been reached or exceeded for Queue: '{self.name}'. "
                f"Size of entity in bytes:{size}, Max entity size in bytes:{MAX_ENTITY_SIZE}.",
            )

    def _entity_size(self) -> int:
        return self.size + (0 if self.dead_letters is None else self.dead_letters.size)

    def _is_duplicate(self, message_id: str | None, now: float) -> bool:
        if not self.properties.requires_duplicate_detection or not message_id:
            return False
        return not self._history.is_new(message_id, now)

    def _enqueue(self, content: C, now: float) -> None:
        ceiling = self.properties.default_message_time_to_live.total_seconds()
        lifetime = ceiling if content.time_to_live is None else min(content.time_to_live, ceiling)
        message = Message(
            content=content,
            sequence_number=self._number(),
            enqueued_at=now,
            expires_at=now + lifetime,
        )
        self._store(message)
        self._schedule_expiration(message)
        self._log("sent", now, message.message_id)

    def _number(self) -> int:
        number = self._next_sequence_number
        self._next_sequence_number += 1
        return number

    def _store(self, message: Message[C]) -> None:
        self._messages[message.sequence_number] = message
        self.size += message.content.size
        self._activate(message)

    def _remove(self, message: Message[C]) -> None:
        del self._messages[message.sequence_number]
        self.size -= message.content.size

    def _activate(self, message: Message[C]) -> None:
        heappush(self._active, message.sequence_number)
        self.listener.available()

    # ------------------------------------------------------------ receiving

    def receive(self, now: float) -> Message[C] | None:
        """Locks the next message for a receiver."""
        message = self.head(now)
        if message is None:
            return None
        heappop(self._active)
        self._lock(message, uuid4(), now)
        self._log("delivered", now, message.message_id, str(message.delivery_count))
        return message

    def renew(self, token: UUID, now: float) -> Lock:
        """Begins the lock's time anew.

        Raises:
            AmqpError: The lock is lost.
        """
        self.expire(now)
        message = self._held(token)
        self._log("lock_renewed", now, message.message_id)
        return self._lock(message, token, now)

    def _lock(self, message: Message[C], token: UUID, now: float) -> Lock:
        until = now + self.properties.lock_duration.total_seconds()
        message.lock = lock = Lock(token=token, until=until)
        self._locked[token] = message
        self._schedule_lock_end(lock)
        return lock

    def _held(self, token: UUID) -> Message[C]:
        message = self._locked.get(token)
        if message is None:
            raise AmqpError(
                "com.microsoft:message-lock-lost",
                "The lock supplied is invalid. Either the lock expired, or the message has "
                "already been removed from the queue.",
            )
        return message

    # ------------------------------------------------------------ settling

    def complete(self, token: UUID, now: float) -> None:
        """Removes a message for good. Like all settlements, raises if the lock is lost."""
        message = self._unlock(token, now)
        self._remove(message)
        self._log("completed", now, message.message_id)

    def abandon(self, token: UUID, now: float) -> None:
        """Gives a message back as a delivery that failed."""
        message = self._unlock(token, now)
        self._log("abandoned", now, message.message_id)
        self._failed(message, now)

    def release(self, token: UUID, now: float) -> None:
        """Gives a message back as if it had not been delivered."""
        message = self._unlock(token, now)
        self._log("released", now, message.message_id)
        self._return(message, now)

    def dead_letter(self, token: UUID, reason: str, description: str, now: float) -> None:
        """Moves a message to the dead-letter queue."""
        if self.dead_letters is None:
            raise AmqpError(
                "amqp:not-allowed", "A message of a dead-letter queue cannot be dead-lettered."
            )
        message = self._unlock(token, now)
        self._move(message, self.dead_letters, reason, description, now)

    def drop_lock(self, token: UUID, now: float) -> None:
        """Ends a lock early, because the connection of its holder broke."""
        self.expire(now)
        if token in self._locked:
            self._lapse(token, now)

    def _unlock(self, token: UUID, now: float) -> Message[C]:
        self.expire(now)
        message = self._held(token)
        del self._locked[token]
        message.lock = None
        return message

    def _failed(self, message: Message[C], now: float) -> None:
        message.delivery_count += 1
        limit = self.properties.max_delivery_count
        if self.dead_letters is not None and message.delivery_count >= limit:
            text = f"Message could not be consumed after {limit} delivery attempts."
            self._move(message, self.dead_letters, "MaxDeliveryCountExceeded", text, now)
        else:
            self._return(message, now)

    def _return(self, message: Message[C], now: float) -> None:
        if message.expires_at <= now:
            self._lifetime_over(message, now)
        else:
            self._activate(message)

    def _move(
        self,
        message: Message[C],
        dead_letters: Queue[C],
        reason: str,
        description: str,
        now: float,
    ) -> None:
        self._remove(message)
        dead_letters._bury(
            message,
            DeadLetter(
                reason=reason[:MAX_DEAD_LETTER_TEXT],
                description=description[:MAX_DEAD_LETTER_TEXT],
                source=self.name,
            ),
        )
        self._log("dead_lettered", now, message.message_id, reason)

    def _bury(self, message: Message[C], dead_letter: DeadLetter) -> None:
        self._store(
            Message(
                content=message.content,
                sequence_number=self._number(),
                enqueued_at=message.enqueued_at,
                expires_at=float("inf"),
                delivery_count=message.delivery_count,
                dead_letter=dead_letter,
            )
        )

    # ------------------------------------------------------------ time

    def expire(self, now: float) -> None:
        """Lets happen what is due: locks lapse, lifetimes end."""
        while self._lock_ends and self._lock_ends[0][0] <= now:
            until, token = heappop(self._lock_ends)
            message = self._locked.get(token)
            if message is not None and message.lock == Lock(token=token, until=until):
                self._lapse(token, now)
        while self._expirations and self._expirations[0][0] <= now:
            message = self._messages.get(heappop(self._expirations)[1])
            if message is not None and message.lock is None:
                self._lifetime_over(message, now)

    def next_due(self) -> float:
        """When `expire` has something to do next; infinity for never."""
        ends = self._lock_ends[:1] + self._expirations[:1]
        return min((moment for moment, _ in ends), default=float("inf"))

    def _lapse(self, token: UUID, now: float) -> None:
        message = self._locked.pop(token)
        message.lock = None
        self._log("lock_expired", now, message.message_id)
        self._failed(message, now)

    def _lifetime_over(self, message: Message[C], now: float) -> None:
        if self.dead_letters is not None and self.properties.dead_lettering_on_message_expiration:
            text = "The message expired and was dead lettered."
            self._move(message, self.dead_letters, "TTLExpiredException", text, now)
        else:
            self._remove(message)
            self._log("expired", now, message.message_id)

    def _schedule_lock_end(self, lock: Lock) -> None:
        self._announce(lock.until)
        heappush(self._lock_ends, (lock.until, lock.token))

    def _schedule_expiration(self, message: Message[C]) -> None:
        self._announce(message.expires_at)
        heappush(self._expirations, (message.expires_at, message.sequence_number))

    def _announce(self, moment: float) -> None:
        if moment < self.next_due():
            self.listener.due(moment)

    def _log(self, name: str, now: float, key: str | None, detail: str | None = None) -> None:
        self._events.add(
            Event(at=now, service="servicebus", name=name, entity=self.name, key=key, detail=detail)
        )
