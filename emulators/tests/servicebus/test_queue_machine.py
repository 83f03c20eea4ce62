"""A queue under any sequence of operations: nothing is lost, nothing is there twice."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from emulators.tests.servicebus.test_queue import Note
from local_azure.events import EventLog
from local_azure.servicebus import QueueProperties
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.queue import Queue

if TYPE_CHECKING:
    from uuid import UUID

_LOCK, _TTL, _LIMIT = 30, 300, 3


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
        self.completed: set[str] = set()
        self.locks: list[tuple[UUID, str, float]] = []
        self.counts: dict[str, int] = {}

    @rule()
    def send(self) -> None:
        self.queue.send([Note(str(self.sent))], self.now)
        self.sent += 1

    @rule()
    def receive(self) -> None:
        message = self.queue.receive(self.now)
        if message is not None:
            assert message.message_id is not None
            assert message.lock is not None
            count = self.counts.get(message.message_id, 0)
            assert count <= message.delivery_count < _LIMIT
            self.counts[message.message_id] = message.delivery_count
            self.locks.append((message.lock.token, message.message_id, message.lock.until))

    @rule(
        how=st.sampled_from(["complete", "abandon", "release", "dead_letter", "renew"]),
        data=st.data(),
    )
    def use_a_lock(self, how: str, data: st.DataObject) -> None:
        if not self.locks:
            return
        at = data.draw(st.integers(0, len(self.locks) - 1))
        token, message_id, until = self.locks[at]
        held = until > self.now
        try:
            if how == "dead_letter":
                self.queue.dead_letter(token, "reason", "description", self.now)
            else:
                getattr(self.queue, how)(token, self.now)
        except AmqpError:
            assert not held
            return
        assert held
        if how == "renew":
            self.locks[at] = (token, message_id, self.now + _LOCK)
        else:
            self.locks[at] = (token, message_id, 0)
        if how == "complete":
            self.completed.add(message_id)

    @rule(seconds=st.integers(1, 100))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        self.queue.expire(self.now)

    @invariant()
    def every_message_is_in_one_place(self) -> None:
        places = [
            *(message.message_id for message in self.queue.messages),
            *(message.message_id for message in self.dead_letters.messages),
            *self.completed,
        ]
        assert sorted(places, key=str) == sorted(map(str, range(self.sent)))

    @invariant()
    def counts_are_those_of_the_messages(self) -> None:
        messages = self.queue.messages
        locked = [message for message in messages if message.lock is not None]
        assert self.queue.locked_count == len(locked)
        assert self.queue.locked_count == sum(until > self.now for _, _, until in self.locks)
        assert self.queue.active_count == len(messages) - len(locked)
        assert self.queue.dead_letter_count == len(self.dead_letters.messages)
        assert self.queue.size == len(messages)

    @invariant()
    def each_is_dead_lettered_once(self) -> None:
        keys = [event.key for event in self.events.of("dead_lettered")]
        assert len(keys) == len(set(keys)) == self.queue.dead_letter_count

    @invariant()
    def something_is_due_while_something_is_there(self) -> None:
        assert self.queue.next_due() > self.now
        if self.queue.messages:
            assert self.queue.next_due() < float("inf")


QueueMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestQueueMachine = QueueMachine.TestCase
