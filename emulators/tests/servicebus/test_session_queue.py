"""What a queue with sessions does, by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from emulators.tests.servicebus.test_queue import Note
from local_azure.events import EventLog
from local_azure.servicebus import QueueProperties
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.queue import Queue
from local_azure.servicebus.broker.session_queue import SessionLock, SessionQueue

if TYPE_CHECKING:
    from uuid import UUID

    from local_azure.servicebus.broker.message import Message


class Bench:
    """A queue with sessions, with a time that the test moves."""

    def __init__(self, **properties: object) -> None:
        self.events = EventLog()
        made = QueueProperties(
            requires_session=True,
            lock_duration=timedelta(seconds=30),
            **properties,  # type: ignore[arg-type]
        )
        self.dead_letters: Queue[Note] = Queue("orders/$DeadLetterQueue", made, self.events)
        self.queue = SessionQueue("orders", made, self.events, self.dead_letters)
        self.now = 0.0

    def send(self, *messages: str) -> None:
        """Sends messages named after their session, ``a1`` to ``a``."""
        self.queue.send([Note(name, session_id=name[0]) for name in messages], self.now)

    def accept(self, session_id: str | None = None) -> SessionLock:
        lock = self.queue.accept(session_id, self.now)
        assert lock is not None
        return lock

    def receive(self, session_id: str) -> tuple[Message[Note], UUID]:
        message = self.queue.receive(self.now, session_id)
        assert message is not None
        assert message.lock is not None
        return message, message.lock.token

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.queue.expire(self.now)


def test_a_session_gives_out_its_own_messages_in_order() -> None:
    bench = Bench()
    bench.send("a1", "b1", "a2")
    bench.accept("a")
    assert [bench.receive("a")[0].message_id for _ in range(2)] == ["a1", "a2"]
    assert bench.queue.receive(bench.now, "a") is None


def test_the_next_available_session_is_the_free_one_that_has_waited_longest() -> None:
    bench = Bench()
    bench.send("a1", "b1", "c1")
    assert [bench.accept().session_id for _ in range(3)] == ["a", "b", "c"]
    assert bench.queue.accept(None, bench.now) is None


def test_a_session_is_locked_by_one_receiver() -> None:
    bench = Bench()
    lock = bench.accept("a")
    with pytest.raises(AmqpError, match="session-cannot-be-locked"):
        bench.queue.accept("a", bench.now)
    bench.queue.close(lock, bench.now)
    bench.accept("a")


def test_a_session_may_be_locked_before_it_has_messages() -> None:
    bench = Bench()
    bench.accept("a")
    bench.send("a1")
    assert bench.receive("a")[0].message_id == "a1"


def test_what_a_closed_session_held_is_given_back_and_does_not_count() -> None:
    bench = Bench()
    bench.send("a1")
    lock = bench.accept("a")
    _, token = bench.receive("a")
    bench.queue.close(lock, bench.now)
    with pytest.raises(AmqpError, match="session-lock-lost"):
        bench.queue.complete(token, bench.now)
    bench.accept("a")
    assert bench.receive("a")[0].delivery_count == 0


def test_what_a_lost_session_held_is_given_back_and_counts() -> None:
    bench = Bench()
    bench.send("a1")
    lock = bench.accept("a")
    _, token = bench.receive("a")
    bench.wait(30)
    assert not bench.queue.holds(lock)
    with pytest.raises(AmqpError, match="session-lock-lost"):
        bench.queue.complete(token, bench.now)
    with pytest.raises(AmqpError, match="session-lock-lost"):
        bench.queue.receive(bench.now, "a")
    bench.accept("a")
    assert bench.receive("a")[0].delivery_count == 1


def test_messages_are_locked_as_long_as_their_session() -> None:
    bench = Bench()
    bench.send("a1")
    lock = bench.accept("a")
    bench.wait(20)
    _, token = bench.receive("a")
    assert bench.queue.renew_session(lock, bench.now).until == 50
    bench.wait(29)
    bench.queue.complete(token, bench.now)
    with pytest.raises(AmqpError, match="not-allowed"):
        bench.queue.renew(uuid4(), bench.now)


def test_an_old_lock_does_not_close_a_new_one() -> None:
    bench = Bench()
    old = bench.accept("a")
    bench.wait(30)
    new = bench.accept("a")
    bench.queue.close(old, bench.now)
    bench.queue.drop_session_lock(old, bench.now)
    assert bench.queue.holds(new)


def test_who_lost_a_session_to_another_can_use_it_no_more() -> None:
    bench = Bench()
    old = bench.accept("a")
    bench.wait(30)
    new = bench.accept("a")
    bench.queue.set_state(new, b"new", bench.now)
    for use in (
        lambda: bench.queue.renew_session(old, bench.now),
        lambda: bench.queue.set_state(old, b"old", bench.now),
        lambda: bench.queue.state(old, bench.now),
        lambda: bench.queue.check_held(old, bench.now),
    ):
        with pytest.raises(AmqpError, match="session-lock-lost"):
            use()
    assert bench.queue.state(new, bench.now) == b"new"


def test_nothing_comes_out_of_a_session_that_is_not_locked() -> None:
    bench = Bench()
    bench.send("a1")
    for take in (
        lambda: bench.queue.receive(bench.now, "a"),
        lambda: bench.queue.receive_and_delete(bench.now, "a"),
        lambda: bench.queue.receive_deferred([1], bench.now, "a", delete=True),
    ):
        with pytest.raises(AmqpError, match="session-lock-lost"):
            take()
    assert bench.queue.active_count == 1


def test_a_session_lock_may_be_dropped_early() -> None:
    bench = Bench()
    bench.send("a1")
    lock = bench.accept("a")
    bench.receive("a")
    bench.queue.drop_session_lock(lock, bench.now)
    lock = bench.accept("a")
    message, token = bench.receive("a")
    assert message.delivery_count == 1
    bench.queue.drop_lock(token, bench.now)
    assert not bench.queue.holds(lock)


def test_a_lock_until_it_is_closed_has_no_end() -> None:
    bench = Bench()
    lock = bench.queue.accept("a", bench.now, until_closed=True)
    assert lock is not None
    bench.wait(10_000)
    assert bench.queue.holds(lock)
    bench.queue.renew_session(lock, bench.now)
    bench.wait(10_000)
    assert bench.queue.holds(lock)


def test_a_message_needs_a_session() -> None:
    bench = Bench()
    with pytest.raises(AmqpError, match="SessionId was not set"):
        bench.queue.send([Note()], bench.now)
    bench.queue.send([Note(session_id="")], bench.now)
    assert bench.accept().session_id == ""


def test_a_deferred_message_is_received_within_its_session() -> None:
    bench = Bench()
    bench.send("a1")
    lock = bench.accept("a")
    message, token = bench.receive("a")
    bench.queue.defer(token, bench.now)
    bench.accept("b")
    with pytest.raises(AmqpError, match="message-not-found"):
        bench.queue.receive_deferred([message.sequence_number], bench.now, "b")
    bench.queue.close(lock, bench.now)
    with pytest.raises(AmqpError, match="session-lock-lost"):
        bench.queue.receive_deferred([message.sequence_number], bench.now, "a")
    bench.accept("a")
    assert bench.queue.receive_deferred([message.sequence_number], bench.now, "a") == [message]


def test_a_state_outlives_its_lock() -> None:
    bench = Bench()
    lock = bench.accept("a")
    bench.queue.set_state(lock, b"state", bench.now)
    bench.queue.close(lock, bench.now)
    with pytest.raises(AmqpError, match="session-lock-lost"):
        bench.queue.state(lock, bench.now)
    lock = bench.accept("a")
    assert bench.queue.state(lock, bench.now) == b"state"
    bench.queue.set_state(lock, None, bench.now)
    assert bench.queue.state(lock, bench.now) is None


def test_a_state_has_a_limit() -> None:
    bench = Bench()
    lock = bench.accept("a")
    bench.queue.set_state(lock, bytes(256 * 1024), bench.now)
    with pytest.raises(AmqpError, match="argument-out-of-range"):
        bench.queue.set_state(lock, bytes(256 * 1024 + 1), bench.now)


def test_sessions_are_listed_that_have_messages_or_a_state() -> None:
    bench = Bench()
    bench.send("a1", "a2")
    for session_id in ("b", "c"):
        bench.queue.set_state(bench.accept(session_id), b"state", bench.now)
        bench.now += 10
    bench.accept("d")
    assert bench.queue.sessions(bench.now) == ["a", "b", "c"]
    assert bench.queue.sessions(bench.now, updated_after=0) == ["c"]


def test_a_dead_letter_is_read_without_a_session() -> None:
    bench = Bench()
    bench.send("a1")
    bench.accept("a")
    bench.queue.dead_letter(bench.receive("a")[1], "reason", "", bench.now)
    assert bench.dead_letters.receive(bench.now) is not None
