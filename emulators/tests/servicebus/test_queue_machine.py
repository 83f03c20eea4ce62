"""A queue under any sequence of operations: nothing is lost, nothing is there twice."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from emulators.tests.servicebus.test_queue import Note
from local_azure.events import EventLog
from local_azure.servicebus import QueueProperties
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.message import State
from local_azure.servicebus.broker.queue import Queue

if TYPE_CHECKING:
    from uuid import UUID

    from local_azure.servicebus.broker.message import Message

_LOCK, _TTL, _LIMIT = 30, 300, 3
_USES = st.sampled_from(["complete", "abandon", "release", "defer", "dead_letter", "renew"])


class QueueMachine(RuleBasedStateMachine):
    """Compares a queue with a ledger of what must have become of each message."""

    def __init__(self) -> None:
        super().__init__()
        self.events = EventLog()
        properties = QueueProperties(
            lock_duration=timedelta(seconds=_LOCK),
            default_message_time_to_live=timedelta(seconds=_TTL),
            dead_lettering_on_message_expiration=True,
            max_delivery_count=_LIMIT,
        )
        self.dead_letters: Queue[Note] = Queue("orders/dead", properties, self.events)
        self.queue = Queue("orders", properties, self.events, self.dead_letters)
        self.now = 0.0
        self.sent = 0
        self.gone: set[str] = set()
        self.locks: list[tuple[UUID, str, float]] = []
        self.counts: dict[str, int] = {}
        self.scheduled: dict[int, tuple[str, float]] = {}

    @rule()
    def send(self) -> None:
        self.queue.send([Note(str(self.sent))], self.now)
        self.sent += 1

    @rule(seconds=st.integers(1, 100))
    def schedule(self, seconds: int) -> None:
        moment = self.now + seconds
        (number,) = self.queue.send([Note(str(self.sent), scheduled_for=moment)], self.now)
        self.scheduled[number] = (str(self.sent), moment)
        self.sent += 1

    @precondition(lambda self: self.scheduled)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.scheduled)))
        message_id, moment = self.scheduled.pop(number)
        try:
            self.queue.cancel([number], self.now)
        except AmqpError:
            assert moment <= self.now
        else:
            assert moment > self.now
            self.gone.add(message_id)

    @rule()
    def receive(self) -> None:
        message = self.queue.receive(self.now)
        if message is not None:
            assert message.state is State.ACTIVE
            self._received(message)

    @rule()
    def receive_and_delete(self) -> None:
        message = self.queue.receive_and_delete(self.now)
        if message is not None:
            self.gone.add(str(message.message_id))

    def _deferred(self) -> list[Message[Note]]:
        return [message for message in self.queue.messages if message.state is State.DEFERRED]

    @precondition(lambda self: self._deferred())
    @rule(data=st.data())
    def receive_deferred(self, data: st.DataObject) -> None:
        wanted = data.draw(st.sampled_from(self._deferred()))
        was_locked = wanted.lock is not None and wanted.lock.until > self.now
        try:
            (message,) = self.queue.receive_deferred([wanted.sequence_number], self.now)
        except AmqpError:
            assert was_locked or wanted not in self.queue.messages
        else:
            assert not was_locked
            self._received(message)

    def _received(self, message: Message[Note]) -> None:
        assert message.message_id is not None
        assert message.lock is not None
        count = self.counts.get(message.message_id, 0)
        assert count <= message.delivery_count < _LIMIT
        self.counts[message.message_id] = message.delivery_count
        self.locks.append((message.lock.token, message.message_id, message.lock.until))

    @precondition(lambda self: self._live())
    @rule(how=_USES, data=st.data())
    def use_a_lock(self, how: str, data: st.DataObject) -> None:
        at = data.draw(st.sampled_from(self._live()))
        token, message_id, _ = self.locks[at]
        self._use(how, token)
        self.locks[at] = (token, message_id, self.now + _LOCK if how == "renew" else 0)
        if how == "complete":
            self.gone.add(message_id)

    @rule(how=_USES, data=st.data())
    def use_a_lost_lock(self, how: str, data: st.DataObject) -> None:
        lost = sorted(set(range(len(self.locks))) - set(self._live()))
        if lost:
            token, _, _ = self.locks[data.draw(st.sampled_from(lost))]
            with pytest.raises(AmqpError, match="message-lock-lost"):
                self._use(how, token)

    def _live(self) -> list[int]:
        return [at for at, (_, _, until) in enumerate(self.locks) if until > self.now]

    def _use(self, how: str, token: UUID) -> None:
        if how == "dead_letter":
            self.queue.dead_letter(token, "reason", "description", self.now)
        else:
            getattr(self.queue, how)(token, self.now)

    @rule(seconds=st.integers(1, 100))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        self.queue.expire(self.now)

    @invariant()
    def every_message_is_in_one_place(self) -> None:
        places = [
            *(message.message_id for message in self.queue.messages),
            *(message.message_id for message in self.dead_letters.messages),
            *self.gone,
        ]
        assert sorted(places, key=str) == sorted(map(str, range(self.sent)))

    @invariant()
    def counts_are_those_of_the_messages(self) -> None:
        messages = self.queue.messages
        locked = [message for message in messages if message.lock is not None]
        assert self.queue.locked_count == len(locked)
        assert self.queue.locked_count == sum(until > self.now for _, _, until in self.locks)
        waiting = self.queue.active_count + self.queue.deferred_count + self.queue.scheduled_count
        assert waiting == len(messages) - len(locked)
        assert self.queue.dead_letter_count == len(self.dead_letters.messages)
        assert self.queue.size == len(messages)

    @invariant()
    def what_is_scheduled_waits_for_its_time(self) -> None:
        waiting = sum(moment > self.now for _, moment in self.scheduled.values())
        assert self.queue.scheduled_count == waiting

    @invariant()
    def each_is_dead_lettered_once(self) -> None:
        keys = [event.key for event in self.events.of("dead_lettered")]
        assert len(keys) == len(set(keys)) == self.queue.dead_letter_count

    @invariant()
    def something_is_due_while_something_can_happen(self) -> None:
        assert self.queue.next_due() > self.now
        if any(m.state is not State.DEFERRED or m.lock for m in self.queue.messages):
            assert self.queue.next_due() < float("inf")


QueueMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestQueueMachine = QueueMachine.TestCase
