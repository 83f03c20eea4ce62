"""Sessions under any sequence of operations: each is one receiver's, and in order."""

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
from local_azure.servicebus.broker.queue import Queue
from local_azure.servicebus.broker.session_queue import SessionLock, SessionQueue

if TYPE_CHECKING:
    from uuid import UUID

_LOCK, _LIMIT = 30, 5
_SESSIONS = st.sampled_from(["a", "b"])


class SessionMachine(RuleBasedStateMachine):
    """Compares a queue with what its receivers believe to hold."""

    def __init__(self) -> None:
        super().__init__()
        properties = QueueProperties(
            requires_session=True,
            lock_duration=timedelta(seconds=_LOCK),
            default_message_time_to_live=timedelta(days=1),
            max_delivery_count=_LIMIT,
        )
        self.dead_letters: Queue[Note] = Queue("orders/dead", properties, EventLog())
        self.queue = SessionQueue("orders", properties, EventLog(), self.dead_letters)
        self.now = 0.0
        self.sent = 0
        self.locks: dict[str, SessionLock] = {}
        self.held: dict[str, dict[UUID, int]] = {}
        self.old: list[SessionLock] = []
        self.lost: list[UUID] = []
        self.completed: set[str] = set()
        self.states: dict[str, bytes] = {}

    def _has(self, session_id: str) -> bool:
        """Whether a receiver has locked a session and its time is not up."""
        lock = self.locks.get(session_id)
        return lock is not None and lock.until > self.now

    @rule(session_id=_SESSIONS, count=st.integers(1, 3))
    def send(self, session_id: str, count: int) -> None:
        names = [str(number) for number in range(self.sent, self.sent + count)]
        self.queue.send([Note(name, session_id=session_id) for name in names], self.now)
        self.sent += count

    @rule(session_id=st.one_of(st.none(), _SESSIONS))
    def accept(self, session_id: str | None) -> None:
        waiting = {m.session_id for m in self.queue.messages if m.lock is None}
        free = {name for name in waiting if name is not None and not self._has(name)}
        try:
            lock = self.queue.accept(session_id, self.now)
        except AmqpError:
            assert session_id is not None
            assert self._has(session_id)
            return
        if lock is None:
            assert session_id is None
            assert not free
            return
        assert not self._has(lock.session_id)
        assert session_id == lock.session_id or lock.session_id in free
        self.locks[lock.session_id], self.held[lock.session_id] = lock, {}

    @precondition(lambda self: self.locks)
    @rule(data=st.data())
    def receive(self, data: st.DataObject) -> None:
        """What comes is the first message of the session that is not held already."""
        session_id = data.draw(st.sampled_from(sorted(self.locks)))
        free = [
            message.sequence_number
            for message in self.queue.messages
            if message.session_id == session_id
            and message.sequence_number not in self.held[session_id].values()
        ]
        message = self.queue.receive(self.now, session_id)
        if message is None:
            assert not free
            return
        assert message.sequence_number == min(free)
        assert message.lock is not None
        assert message.lock.until == self.locks[session_id].until
        self.held[session_id][message.lock.token] = message.sequence_number

    @rule(session_id=_SESSIONS)
    def receive_from_a_session_that_is_not_locked(self, session_id: str) -> None:
        if not self._has(session_id):
            with pytest.raises(AmqpError, match="session-lock-lost"):
                self.queue.receive(self.now, session_id)

    @precondition(lambda self: any(self.held.values()))
    @rule(how=st.sampled_from(["complete", "abandon", "release", "dead_letter"]), data=st.data())
    def settle(self, how: str, data: st.DataObject) -> None:
        session_id = data.draw(st.sampled_from(sorted(n for n, held in self.held.items() if held)))
        token = data.draw(st.sampled_from(sorted(self.held[session_id])))
        message = self.queue.locked(token)
        assert message is not None
        if how == "dead_letter":
            self.queue.dead_letter(token, "reason", "", self.now)
        else:
            getattr(self.queue, how)(token, self.now)
        del self.held[session_id][token]
        self.lost.append(token)
        if how == "complete":
            self.completed.add(str(message.message_id))

    @precondition(lambda self: self.lost)
    @rule(data=st.data())
    def settle_what_is_not_held(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(self.lost))
        with pytest.raises(AmqpError, match="session-lock-lost"):
            self.queue.complete(token, self.now)

    @precondition(lambda self: self.locks)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        session_id = data.draw(st.sampled_from(sorted(self.locks)))
        self.locks[session_id] = self.queue.renew_session(self.locks[session_id], self.now)

    @rule(session_id=_SESSIONS)
    def close(self, session_id: str) -> None:
        if session_id in self.locks:
            self.old.append(self.locks.pop(session_id))
            self.queue.close(self.old[-1], self.now)
            self.lost += self.held.pop(session_id)

    @precondition(lambda self: self.locks)
    @rule(state=st.binary(max_size=3), data=st.data())
    def set_state(self, state: bytes, data: st.DataObject) -> None:
        session_id = data.draw(st.sampled_from(sorted(self.locks)))
        self.queue.set_state(self.locks[session_id], state, self.now)
        self.states[session_id] = state

    @precondition(lambda self: self.old)
    @rule(data=st.data())
    def use_a_session_that_was_lost(self, data: st.DataObject) -> None:
        lock = data.draw(st.sampled_from(self.old))
        with pytest.raises(AmqpError, match="session-lock-lost"):
            self.queue.renew_session(lock, self.now)
        with pytest.raises(AmqpError, match="session-lock-lost"):
            self.queue.set_state(lock, b"lost", self.now)

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        self.queue.expire(self.now)
        self.lost += [token for n, held in self.held.items() if not self._has(n) for token in held]
        self.held = {name: held for name, held in self.held.items() if self._has(name)}
        self.old += [lock for name, lock in self.locks.items() if not self._has(name)]
        self.locks = {name: lock for name, lock in self.locks.items() if self._has(name)}

    @invariant()
    def every_message_is_in_one_place(self) -> None:
        places = [
            *(message.message_id for message in self.queue.messages),
            *(message.message_id for message in self.dead_letters.messages),
            *self.completed,
        ]
        assert sorted(places, key=str) == sorted(map(str, range(self.sent)))

    @invariant()
    def only_holders_of_sessions_hold_messages(self) -> None:
        assert self.queue.locked_count == sum(map(len, self.held.values()))
        assert all(self.queue.holds(lock) for lock in self.locks.values())

    @invariant()
    def states_stay(self) -> None:
        for session_id, lock in self.locks.items():
            assert self.queue.state(lock, self.now) == self.states.get(session_id)


SessionMachine.TestCase.settings = settings(max_examples=300, stateful_step_count=50, deadline=None)
TestSessionMachine = SessionMachine.TestCase
