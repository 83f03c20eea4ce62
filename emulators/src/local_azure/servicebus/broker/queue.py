"""A queue: what is active, what is locked, and what time does to both. No I/O, no clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.agenda import NEVER
from local_azure.servicebus.broker.backlog import Backlog, Line
from local_azure.servicebus.broker.fields import Changes
from local_azure.servicebus.broker.intake import Intake
from local_azure.servicebus.broker.limits import MAX_DEAD_LETTER_TEXT, check_content
from local_azure.servicebus.broker.message import C, DeadLetter, Lock, Message, State
from local_azure.servicebus.broker.ports import Listener, Nobody
from local_azure.servicebus.broker.store import not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_azure.events import EventLog
    from local_azure.servicebus.broker.intake import Due
    from local_azure.servicebus.broker.ports import Outlet
    from local_azure.servicebus.broker.properties import QueueProperties

_UNCHANGED = Changes()
_REASONS = {
    "amqp:link:message-size-exceeded": (
        "HeaderSizeExceeded",
        "The size quota for this stream has been exceeded.",
    )
}
"""Of a dead letter, by the condition that would refuse it; others are reasons themselves."""


class Queue(Intake[C]):
    """A queue, or a queue inside of another entity: of its dead letters, of a subscription.

    Messages of a dead-letter queue do not expire, may be delivered without limit and can be
    moved no further.

    Attributes:
        dead_letters: Its dead-letter queue; ``None`` if it is one.
        transfer_dead_letters: Where messages go that could not be forwarded.
        outlet: Where active messages go on to; ``None`` keeps them for receivers.
        listener: Told of changes.
    """

    properties: QueueProperties

    def __init__(
        self,
        name: str,
        properties: QueueProperties,
        events: EventLog,
        dead_letters: Queue[C] | None = None,
        transfer_dead_letters: Queue[C] | None = None,
    ) -> None:
        super().__init__(name, properties, events)
        self.outlet: Outlet[C] | None = None
        self.listener: Listener = Nobody()
        self.dead_letters = dead_letters
        self.transfer_dead_letters = transfer_dead_letters
        self._backlog = Backlog(self._store.by_number)
        self._locked: dict[UUID, Message[C]] = {}

    # ------------------------------------------------------------ looking

    @property
    def active_count(self) -> int:
        """Messages that may be received."""
        return self._store.count(State.ACTIVE)

    @property
    def deferred_count(self) -> int:
        """Messages that may be received by their number alone."""
        return self._store.count(State.DEFERRED)

    @property
    def locked_count(self) -> int:
        """Messages that a receiver holds."""
        return len(self._locked)

    @property
    def dead_letter_count(self) -> int:
        """Messages in the dead-letter queue."""
        return 0 if self.dead_letters is None else len(self.dead_letters.messages)

    @property
    def sub_queues(self) -> tuple[Queue[C], ...]:
        """The queues that belong to this one."""
        both = (self.dead_letters, self.transfer_dead_letters)
        return tuple(queue for queue in both if queue is not None)

    def total_size(self) -> int:
        """Bytes of its messages and its dead letters."""
        return self.size + sum(queue.size for queue in self.sub_queues)

    def head(self, now: float, line: Line = None) -> Message[C] | None:
        """The message that is received next, of a session's where the queue has such."""
        self.expire(now)
        number = self._backlog.first(line)
        return None if number is None else self._store.by_number[number]

    def locked(self, token: UUID) -> Message[C] | None:
        """The message that a lock holds, if it still does."""
        return self._locked.get(token)

    # ------------------------------------------------------------ sending

    def take_dead(self, message: Message[C], reason: str, description: str, now: float) -> None:
        """Takes in a message of another entity's that is of no use here, as a dead letter."""
        self._bury(self._arrived(message, now), reason, description, now)

    def take_copy(self, message: Message[C], now: float) -> None:
        """Takes in a topic's copy, in the topic's room; what is not acceptable is a dead letter."""
        self.expire(now)
        try:
            check_content(message.content)
        except AmqpError as error:
            self.take_dead(message, *_REASONS.get(error.condition, _refusal(error)), now)
        else:
            self._enqueue(self._arrived(message, now), now)

    def _bury(self, message: Message[C], reason: str, description: str, now: float) -> None:
        self._store.add(message)
        self._move(message, self.dead_letters or self, reason, description, now)

    def _enqueue(self, message: Message[C], now: float) -> None:
        self._log("sent", now, message.message_id)
        self._activate(message, now)

    def _activate(self, message: Message[C], now: float) -> None:
        """Keeps a message for receivers, or forwards it."""
        if self.outlet is None:
            self._keep(message)
            self._await_receiver(message)
        else:
            self._hand_on(message, self.outlet, now)

    def _keep(self, message: Message[C]) -> None:
        self._store.add(message)
        self._at(message.expires_at, message.sequence_number)

    def _await_receiver(self, message: Message[C]) -> None:
        self._backlog.add(self._line(message), message.sequence_number)
        self.listener.available()

    def _line(self, _: Message[C]) -> Line:
        return None

    def _hand_on(self, message: Message[C], outlet: Outlet[C], now: float) -> None:
        """Forwards a message; one that cannot be becomes a dead letter of the transfer."""
        try:
            outlet.deliver(message, now)
        except AmqpError as error:
            self._keep(message)
            if self.transfer_dead_letters is None:
                self._await_receiver(message)
            else:
                text = error.description
                self._move(message, self.transfer_dead_letters, error.condition, text, now)

    # ------------------------------------------------------------ receiving

    def receive(self, now: float, line: Line = None, holder: object = None) -> Message[C] | None:
        """Locks the next message for a receiver."""
        message = self._take_head(now, line)
        if message is not None:
            self._deliver(message, now, holder)
        return message

    def receive_and_delete(self, now: float, line: Line = None) -> Message[C] | None:
        """Gives the next message out for good."""
        message = self._take_head(now, line)
        if message is not None:
            self._consume(message, now)
        return message

    def receive_deferred(
        self,
        numbers: Sequence[int],
        now: float,
        line: Line = None,
        holder: object = None,
        *,
        delete: bool = False,
    ) -> list[Message[C]]:
        """Locks deferred messages, or gives them out for good; all or none.

        Raises:
            AmqpError: One of them is not deferred, locked already or not in the line.
        """
        self.expire(now)
        self._check_line(line)
        messages = self._store.found(State.DEFERRED, numbers)
        if any(self._line(message) != line for message in messages):
            raise not_found()
        for message in messages:
            if delete:
                self._consume(message, now)
            else:
                self._deliver(message, now, holder)
        return messages

    def set_aside(self, now: float, line: Line = None) -> Message[C] | None:
        """Lets the next message wait, unlocked, until it is `put_back`."""
        message = self.head(now, line)
        if message is not None:
            self._backlog.take(line)
        return message

    def put_back(self, message: Message[C]) -> None:
        """Lets a message that was set aside be received, if it is still there."""
        if message.sequence_number in self._store.by_number:
            self._await_receiver(message)

    def can_be_overtaken(self, now: float, line: Line = None) -> bool:
        """Whether there is a message behind the next one."""
        self.expire(now)
        return self._backlog.second(line) is not None

    def overtake(self, now: float, line: Line = None) -> None:
        """Lets the message after the next be received before it, where there is one."""
        self.expire(now)
        self._backlog.overtake(line)

    def renew(self, token: UUID, now: float) -> Lock:
        """Begins the lock's time anew.

        Raises:
            AmqpError: The lock is lost.
        """
        self.expire(now)
        message = self._held(token)
        self._log("lock_renewed", now, message.message_id)
        holder = None if message.lock is None else message.lock.holder
        return self._lock(message, token, now, holder)

    def _take_head(self, now: float, line: Line) -> Message[C] | None:
        self.expire(now)
        self._check_line(line)
        return self.set_aside(now, line)

    def _check_line(self, line: Line) -> None:
        """Refuses who may not receive from a line."""

    def _deliver(self, message: Message[C], now: float, holder: object) -> None:
        lock = self._lock(message, uuid4(), now, holder)
        self._locked[lock.token] = message
        self._log("delivered", now, message.message_id, str(message.delivery_count))

    def _consume(self, message: Message[C], now: float) -> None:
        self._log("delivered", now, message.message_id, str(message.delivery_count))
        self._remove(message)
        self._log("completed", now, message.message_id)

    def _lock(self, message: Message[C], token: UUID, now: float, holder: object) -> Lock:
        message.lock = lock = Lock(token=token, until=self._lock_end(now), holder=holder)
        self._at(lock.until, token)
        return lock

    def _lock_end(self, now: float) -> float:
        return now + self.properties.lock_duration.total_seconds()

    def _held(self, token: UUID) -> Message[C]:
        message = self._locked.get(token)
        if message is None:
            raise self.lock_lost()
        return message

    def lock_lost(self) -> AmqpError:
        return AmqpError(
            "com.microsoft:message-lock-lost",
            "The lock supplied is invalid. Either the lock expired, or the message has "
            "already been removed from the queue.",
        )

    # ------------------------------------------------------------ settling

    def complete(self, token: UUID, now: float) -> None:
        """Removes a message for good. Like all settlements, raises if the lock is lost."""
        message = self._unlock(token, now)
        self._remove(message)
        self._log("completed", now, message.message_id)

    def abandon(self, token: UUID, now: float, changes: Changes = _UNCHANGED) -> None:
        """Gives a message back as a delivery that failed."""
        message = self._unlock(token, now, changes)
        self._log("abandoned", now, message.message_id)
        self._failed(message, now)

    def release(self, token: UUID, now: float) -> None:
        """Gives a message back as if it had not been delivered."""
        message = self._unlock(token, now)
        self._log("released", now, message.message_id)
        self._return(message, now)

    def defer(self, token: UUID, now: float, changes: Changes = _UNCHANGED) -> None:
        """Puts a message aside, to be received by its number alone."""
        message = self._unlock(token, now, changes)
        self._log("deferred", now, message.message_id)
        message.state = State.DEFERRED

    def dead_letter(
        self,
        token: UUID,
        reason: str,
        description: str,
        now: float,
        changes: Changes = _UNCHANGED,
    ) -> None:
        """Moves a message to the dead-letter queue."""
        if self.dead_letters is None:
            raise AmqpError(
                "amqp:not-allowed", "A message of a dead-letter queue cannot be dead-lettered."
            )
        message = self._unlock(token, now, changes)
        self._move(message, self.dead_letters, reason, description, now)

    def drop_lock(self, token: UUID, now: float) -> None:
        """Ends a lock early."""
        self.expire(now)
        if token in self._locked:
            self._lapse(token, now)

    def drop_locks_of(self, holder: object, now: float) -> None:
        """Ends all locks of a holder early, because its connection broke."""
        self.expire(now)
        locks = [message.lock for message in self._locked.values()]
        for lock in locks:
            if lock is not None and lock.holder is holder:
                self.drop_lock(lock.token, now)

    def _unlock(self, token: UUID, now: float, changes: Changes = _UNCHANGED) -> Message[C]:
        """Ends a lock as its holder asks; raises before anything is changed."""
        self.expire(now)
        message = self._held(token)
        self._store.change(message, changes)
        self._forget_lock(token)
        return message

    def _forget_lock(self, token: UUID) -> Message[C]:
        message = self._locked.pop(token)
        message.lock = None
        self._agenda.cancel(token)
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
        if message.state is State.DEFERRED:
            return
        if message.expires_at <= now:
            self._end_lifetime(message, now)
        else:
            self._await_receiver(message)

    def _move(
        self,
        message: Message[C],
        dead_letters: Queue[C],
        reason: str,
        description: str,
        now: float,
    ) -> None:
        self._remove(message)
        self._log("dead_lettered", now, message.message_id, reason)
        buried = replace(
            message,
            sequence_number=dead_letters._store.number(),
            expires_at=NEVER,
            state=State.ACTIVE,
            dead_letter=DeadLetter(
                reason=reason[:MAX_DEAD_LETTER_TEXT],
                description=description[:MAX_DEAD_LETTER_TEXT],
                source=self.name,
            ),
        )
        dead_letters._activate(buried, now)

    # ------------------------------------------------------------ time

    def _happen(self, due: Due, now: float) -> None:
        if isinstance(due, UUID):
            self._lapse(due, now)
        elif isinstance(due, int):
            self._time_has_come_for(self._store.by_number[due], now)

    def _lapse(self, token: UUID, now: float) -> None:
        message = self._forget_lock(token)
        self._log("lock_expired", now, message.message_id)
        self._failed(message, now)

    def _time_has_come_for(self, message: Message[C], now: float) -> None:
        """Sends what is scheduled, lets expire what waits; what is locked does when given back."""
        if message.state is State.SCHEDULED:
            self._activate_scheduled(message, now)
        elif message.state is State.ACTIVE and message.lock is None:
            self._end_lifetime(message, now)

    def _end_lifetime(self, message: Message[C], now: float) -> None:
        if self.dead_letters is not None and self.properties.dead_lettering_on_message_expiration:
            text = "The message expired and was dead lettered."
            self._move(message, self.dead_letters, "TTLExpiredException", text, now)
        else:
            self._remove(message)
            self._log("expired", now, message.message_id)


def _refusal(error: AmqpError) -> tuple[str, str]:
    return error.condition, error.description
