"""What a queue does, by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest

from local_azure.events import EventLog
from local_azure.servicebus import QueueProperties
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.queue import MAX_ENTITY_SIZE, Queue

if TYPE_CHECKING:
    from local_azure.servicebus.message import Message


@dataclass(frozen=True)
class Note:
    message_id: str | None = "m"
    time_to_live: float | None = None
    size: int = 1


class Bench:
    """A queue, with a time that the test moves."""

    def __init__(self, **properties: object) -> None:
        self.events = EventLog()
        made = QueueProperties(**properties)  # type: ignore[arg-type]
        self.dead_letters: Queue[Note] = Queue("orders/$DeadLetterQueue", made, self.events)
        self.queue = Queue("orders", made, self.events, self.dead_letters)
        self.now = 0.0

    def send(self, *message_ids: str | None, ttl: float | None = None) -> None:
        notes = [Note(message_id, ttl) for message_id in message_ids]
        self.queue.send(notes, self.now)

    def receive(self, queue: Queue[Note] | None = None) -> tuple[Message[Note], UUID]:
        message = (queue or self.queue).receive(self.now)
        assert message is not None
        assert message.lock is not None
        return message, message.lock.token

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.queue.expire(self.now)

    def log(self) -> list[str]:
        return [event.name for event in self.events]

    def counts(self) -> tuple[int, int, int]:
        queue = self.queue
        return queue.active_count, queue.locked_count, queue.dead_letter_count


def test_messages_are_received_in_the_order_they_were_sent() -> None:
    bench = Bench()
    bench.send("a", "b")
    assert [bench.receive()[0].message_id for _ in range(2)] == ["a", "b"]
    assert bench.queue.receive(bench.now) is None


def test_a_completed_message_is_gone() -> None:
    bench = Bench()
    bench.send("a")
    _, token = bench.receive()
    bench.queue.complete(token, bench.now)
    assert bench.counts() == (0, 0, 0)
    assert bench.queue.size == 0
    assert bench.log() == ["sent", "delivered", "completed"]


def test_an_abandoned_message_keeps_its_place_and_counts_the_delivery() -> None:
    bench = Bench()
    bench.send("a", "b")
    _, token = bench.receive()
    bench.queue.abandon(token, bench.now)
    message, _ = bench.receive()
    assert (message.message_id, message.delivery_count) == ("a", 1)


def test_a_released_message_keeps_its_place_and_does_not_count_the_delivery() -> None:
    bench = Bench()
    bench.send("a", "b")
    _, token = bench.receive()
    bench.queue.release(token, bench.now)
    message, _ = bench.receive()
    assert (message.message_id, message.delivery_count) == ("a", 0)


def test_a_lock_lapses_at_its_time_and_counts_the_delivery() -> None:
    bench = Bench(lock_duration=timedelta(seconds=30))
    bench.send("a")
    _, token = bench.receive()
    bench.wait(29.9)
    assert bench.counts() == (0, 1, 0)
    bench.wait(0.1)
    assert bench.counts() == (1, 0, 0)
    with pytest.raises(AmqpError, match="message-lock-lost"):
        bench.queue.complete(token, bench.now)
    assert bench.receive()[0].delivery_count == 1


def test_a_renewed_lock_lasts_its_whole_time_again() -> None:
    bench = Bench(lock_duration=timedelta(seconds=30))
    bench.send("a")
    _, token = bench.receive()
    bench.wait(20)
    assert bench.queue.renew(token, bench.now).until == 50
    bench.wait(29)
    bench.queue.complete(token, bench.now)
    assert bench.log() == ["sent", "delivered", "lock_renewed", "completed"]


@pytest.mark.parametrize("operation", ["complete", "abandon", "release", "renew"])
def test_a_lock_that_never_was_is_lost(operation: str) -> None:
    bench = Bench()
    with pytest.raises(AmqpError, match="message-lock-lost"):
        getattr(bench.queue, operation)(uuid4(), bench.now)


def test_a_message_is_settled_once() -> None:
    bench = Bench()
    bench.send("a")
    _, token = bench.receive()
    bench.queue.abandon(token, bench.now)
    bench.receive()
    with pytest.raises(AmqpError, match="message-lock-lost"):
        bench.queue.complete(token, bench.now)


def test_a_lock_may_be_dropped_early_and_once() -> None:
    bench = Bench()
    bench.send("a")
    _, token = bench.receive()
    bench.queue.drop_lock(token, bench.now)
    bench.queue.drop_lock(token, bench.now)
    assert bench.receive()[0].delivery_count == 1


def test_dead_lettering_moves_a_message_with_its_reason() -> None:
    bench = Bench()
    bench.send("a")
    _, token = bench.receive()
    bench.queue.dead_letter(token, "r" * 5000, "d" * 5000, bench.now)
    assert bench.counts() == (0, 0, 1)
    message, token = bench.receive(bench.dead_letters)
    assert message.dead_letter is not None
    assert message.dead_letter.reason == "r" * 4096
    assert message.dead_letter.description == "d" * 4096
    assert message.dead_letter.source == "orders"
    bench.dead_letters.complete(token, bench.now)
    assert bench.counts() == (0, 0, 0)


def test_after_the_last_delivery_a_message_is_dead_lettered() -> None:
    bench = Bench(max_delivery_count=2, lock_duration=timedelta(seconds=30))
    bench.send("a")
    bench.queue.abandon(bench.receive()[1], bench.now)
    bench.receive()
    bench.wait(30)
    (message,) = bench.dead_letters.messages
    assert message.delivery_count == 2
    assert message.dead_letter is not None
    assert message.dead_letter.reason == "MaxDeliveryCountExceeded"
    assert message.dead_letter.description == (
        "Message could not be consumed after 2 delivery attempts."
    )


def test_a_dead_letter_stays_whatever_happens_to_it() -> None:
    bench = Bench(max_delivery_count=1, default_message_time_to_live=timedelta(seconds=100))
    bench.send("a")
    bench.queue.abandon(bench.receive()[1], bench.now)
    for _ in range(3):
        _, token = bench.receive(bench.dead_letters)
        with pytest.raises(AmqpError, match="not-allowed"):
            bench.dead_letters.dead_letter(token, "again", "", bench.now)
        bench.dead_letters.abandon(token, bench.now)
    bench.wait(10_000)
    bench.dead_letters.expire(bench.now)
    assert bench.counts() == (0, 0, 1)
    assert bench.receive(bench.dead_letters)[0].delivery_count == 4


@pytest.mark.parametrize(("ttl", "lives"), [(None, 600), (60, 60), (6000, 600)])
def test_a_lifetime_is_the_messages_own_within_the_queues(ttl: float | None, lives: int) -> None:
    bench = Bench(default_message_time_to_live=timedelta(seconds=600))
    bench.send("a", ttl=ttl)
    bench.wait(lives - 1)
    assert bench.counts() == (1, 0, 0)
    bench.wait(1)
    assert bench.counts() == (0, 0, 0)
    assert bench.log()[-1] == "expired"


def test_an_expired_message_may_be_dead_lettered() -> None:
    bench = Bench(dead_lettering_on_message_expiration=True)
    bench.send("a", ttl=60)
    bench.wait(60)
    (message,) = bench.dead_letters.messages
    assert message.dead_letter is not None
    assert message.dead_letter.reason == "TTLExpiredException"


def test_a_locked_message_expires_when_it_is_given_back() -> None:
    bench = Bench(lock_duration=timedelta(seconds=100))
    bench.send("a", ttl=60)
    _, token = bench.receive()
    bench.wait(70)
    assert bench.counts() == (0, 1, 0)
    bench.queue.abandon(token, bench.now)
    assert bench.counts() == (0, 0, 0)


def test_copies_within_the_window_are_dropped_whatever_became_of_the_first() -> None:
    bench = Bench(
        requires_duplicate_detection=True,
        duplicate_detection_history_time_window=timedelta(seconds=20),
    )
    bench.send("a", "a", "b", None, None)
    assert bench.queue.active_count == 4
    bench.queue.complete(bench.receive()[1], bench.now)
    bench.wait(19)
    bench.send("a")
    assert bench.queue.active_count == 3
    bench.wait(1)
    bench.send("a")
    assert bench.queue.active_count == 4
    assert bench.log().count("duplicate_dropped") == 2


def test_without_duplicate_detection_copies_are_kept() -> None:
    bench = Bench()
    bench.send("a", "a")
    assert bench.queue.active_count == 2


def test_a_batch_is_taken_whole_or_not_at_all() -> None:
    bench = Bench()
    with pytest.raises(AmqpError, match="MessageId cannot exceed 128"):
        bench.send("a", "b" * 129)
    assert bench.counts() == (0, 0, 0)
    bench.send("b" * 128)


def test_a_full_queue_refuses_messages_its_dead_letters_counted() -> None:
    bench = Bench(max_delivery_count=1)
    bench.queue.send([Note(size=MAX_ENTITY_SIZE - 1)], bench.now)
    bench.queue.abandon(bench.receive()[1], bench.now)
    bench.send("fits")
    with pytest.raises(AmqpError, match="resource-limit-exceeded"):
        bench.send("does not")


def test_sequence_numbers_rise_and_are_a_queues_own() -> None:
    bench = Bench(max_delivery_count=1)
    bench.send("a", "b", "c")
    assert [message.sequence_number for message in bench.queue.messages] == [1, 2, 3]
    bench.receive()
    bench.queue.abandon(bench.receive()[1], bench.now)
    assert [message.sequence_number for message in bench.dead_letters.messages] == [1]


class _Notes:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.available_times = 0
        self.moments: list[float] = []

    def available(self) -> None:
        self.available_times += 1

    def due(self, moment: float) -> None:
        self.moments.append(moment)


def test_the_listener_hears_of_messages_and_of_earlier_deadlines() -> None:
    bench = Bench(lock_duration=timedelta(seconds=60))
    bench.queue.listener = notes = _Notes()
    bench.send("a", ttl=100)
    bench.send("b", ttl=200)
    assert (notes.available_times, notes.moments) == (2, [100])
    bench.receive()
    assert notes.moments == [100, 60]
    assert bench.queue.next_due() == 60
    bench.wait(60)
    assert notes.available_times == 3
