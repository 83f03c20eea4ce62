"""What a queue does, by itself."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from local_azure.events import EventLog
from local_azure.servicebus import QueueProperties
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.fields import Changes, Fields
from local_azure.servicebus.broker.limits import MEGABYTE
from local_azure.servicebus.broker.queue import Queue

if TYPE_CHECKING:
    from local_azure.servicebus.broker.message import Message


@dataclass(frozen=True)
class Note:
    message_id: str | None = "m"
    time_to_live: float | None = None
    size: int = 1
    session_id: str | None = None
    scheduled_for: float | None = None
    properties_size: int = 0
    properties: dict[str, object] = field(default_factory=dict)

    @property
    def fields(self) -> Fields:
        return Fields(system={"MessageId": self.message_id}, user=self.properties)

    def largest_property_size(self) -> int:
        return max(len(str(value)) for value in self.properties.values())

    def changed(self, changes: Changes) -> Note:
        ids: dict[str, Any] = {"MessageId": self.message_id, "SessionId": self.session_id}
        ids |= changes.system
        grown = self.properties_size + sum(len(str(value)) for value in changes.user.values())
        return replace(
            self,
            message_id=ids["MessageId"],
            session_id=ids["SessionId"],
            properties={**self.properties, **changes.user},
            properties_size=grown,
        )

    def lasting(self, seconds: float) -> Note:
        return replace(self, time_to_live=seconds)


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


def test_a_message_may_be_overtaken_by_the_one_behind_it() -> None:
    bench = Bench()
    bench.send("alone")
    bench.queue.overtake(bench.now)
    bench.queue.complete(bench.receive()[1], bench.now)
    bench.queue.overtake(bench.now)
    bench.send("a", "b", "c")
    bench.queue.overtake(bench.now)
    assert [bench.receive()[0].message_id for _ in range(3)] == ["b", "a", "c"]


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


def test_all_locks_of_a_holder_may_be_dropped() -> None:
    bench = Bench()
    bench.send("a", "b", "c")
    holders = [object(), object()]
    received = [bench.queue.receive(bench.now, None, holders[at]) for at in (0, 0, 1)]
    first = received[0]
    assert first is not None
    assert first.lock is not None
    bench.wait(10)
    bench.queue.renew(first.lock.token, bench.now)
    bench.queue.drop_locks_of(holders[0], bench.now)
    assert [message.lock is None for message in received if message] == [True, True, False]


def test_a_message_that_is_set_aside_waits_until_it_is_put_back() -> None:
    bench = Bench(default_message_time_to_live=timedelta(seconds=100))
    bench.send("a", "b")
    aside = bench.queue.set_aside(bench.now)
    assert aside is not None
    assert bench.queue.active_count == 2
    assert bench.receive()[0].message_id == "b"
    bench.queue.put_back(aside)
    assert bench.queue.set_aside(bench.now) is aside
    bench.wait(100)
    bench.queue.put_back(aside)
    assert bench.queue.receive(bench.now) is None


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


@pytest.mark.parametrize(("ttl", "shown"), [(None, None), (60, 60), (6000, 600)])
def test_a_message_shows_no_longer_lifetime_than_the_queues(
    ttl: float | None, shown: float | None
) -> None:
    bench = Bench(default_message_time_to_live=timedelta(seconds=600))
    bench.send("a", ttl=ttl)
    assert bench.receive()[0].content.time_to_live == shown


def test_a_lifetime_may_be_endless() -> None:
    bench = Bench(default_message_time_to_live=timedelta.max)
    bench.send("a")
    assert bench.queue.next_due() == float("inf")


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


@pytest.mark.parametrize(
    ("together", "largest", "refusal"),
    [
        (64 * 1024, 32 * 1024, None),
        (64 * 1024 + 1, 1, "message-size-exceeded"),
        (32 * 1024 + 1, 32 * 1024 + 1, "internal-error"),
    ],
)
def test_properties_have_limits_each_and_together(
    together: int, largest: int, refusal: str | None
) -> None:
    bench = Bench()
    note = Note(properties_size=together, properties={"p": "x" * largest})
    with nullcontext() if refusal is None else pytest.raises(AmqpError, match=refusal):
        bench.queue.send([note], bench.now)
    assert bench.queue.active_count == (refusal is None)


def test_a_full_queue_refuses_messages_its_dead_letters_counted() -> None:
    bench = Bench(max_delivery_count=1)
    bench.queue.send([Note(size=100 * MEGABYTE - 1)], bench.now)
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


def test_a_received_and_deleted_message_is_gone() -> None:
    bench = Bench()
    bench.send("a")
    assert bench.queue.receive_and_delete(bench.now) is not None
    assert bench.counts() == (0, 0, 0)
    assert bench.log() == ["sent", "delivered", "completed"]


def test_a_deferred_message_is_received_by_its_number_alone_and_does_not_expire() -> None:
    bench = Bench(default_message_time_to_live=timedelta(seconds=100))
    bench.send("a")
    message, token = bench.receive()
    bench.queue.defer(token, bench.now)
    assert bench.queue.receive(bench.now) is None
    assert (bench.queue.deferred_count, *bench.counts()) == (1, 0, 0, 0)
    bench.wait(200)
    (again,) = bench.queue.receive_deferred([message.sequence_number], bench.now)
    assert (again.message_id, again.delivery_count) == ("a", 0)
    assert again.lock is not None
    bench.queue.complete(again.lock.token, bench.now)
    assert bench.queue.size == 0


def test_a_deferred_message_that_is_abandoned_stays_deferred_until_its_limit() -> None:
    bench = Bench(max_delivery_count=2)
    bench.send("a")
    message, token = bench.receive()
    bench.queue.defer(token, bench.now)
    for left in (1, 0):
        (again,) = bench.queue.receive_deferred([message.sequence_number], bench.now)
        assert again.lock is not None
        bench.queue.abandon(again.lock.token, bench.now)
        assert bench.queue.deferred_count == left
    assert bench.queue.dead_letter_count == 1


@pytest.mark.parametrize("numbers", [[1], [2], [3], [1, 2]])
def test_what_is_not_deferred_is_not_found(numbers: list[int]) -> None:
    bench = Bench()
    bench.send("active", "locked")
    bench.queue.defer(bench.receive()[1], bench.now)
    bench.queue.receive_deferred([1], bench.now)
    with pytest.raises(AmqpError, match="message-not-found"):
        bench.queue.receive_deferred(numbers, bench.now)


def test_a_deferred_message_can_be_received_and_deleted() -> None:
    bench = Bench()
    bench.send("a")
    message, token = bench.receive()
    bench.queue.defer(token, bench.now)
    bench.queue.receive_deferred([message.sequence_number], bench.now, delete=True)
    assert bench.queue.messages == ()


def test_a_scheduled_message_becomes_active_at_its_time_under_a_new_number() -> None:
    bench = Bench(default_message_time_to_live=timedelta(seconds=60))
    later, _ = bench.queue.send([Note("later", scheduled_for=100), Note("now")], bench.now)
    assert (bench.queue.scheduled_count, bench.queue.active_count) == (1, 1)
    bench.queue.complete(bench.receive()[1], bench.now)
    bench.wait(99)
    assert bench.queue.receive(bench.now) is None
    bench.wait(1)
    message, _ = bench.receive()
    assert message.message_id == "later"
    assert message.sequence_number > later
    assert message.expires_at == 160
    assert bench.log()[0] == "scheduled"


def test_a_scheduled_message_can_be_cancelled_once_and_before_its_time() -> None:
    bench = Bench()
    first, second = bench.queue.send(
        [Note("a", scheduled_for=50), Note("b", scheduled_for=50)], bench.now
    )
    bench.queue.cancel([first], bench.now)
    with pytest.raises(AmqpError, match="message-not-found"):
        bench.queue.cancel([first, second], bench.now)
    bench.wait(50)
    with pytest.raises(AmqpError, match="message-not-found"):
        bench.queue.cancel([second], bench.now)
    assert [message.message_id for message in bench.queue.messages] == ["b"]


def test_a_time_to_become_active_that_has_passed_is_now() -> None:
    bench = Bench()
    bench.queue.send([Note(scheduled_for=0)], 1.0)
    assert bench.queue.active_count == 1


def test_scheduled_messages_take_part_in_duplicate_detection() -> None:
    bench = Bench(requires_duplicate_detection=True)
    assert bench.queue.send([Note("a", scheduled_for=5), Note("a")], bench.now) == [1, 0]


def test_peeking_shows_messages_in_every_state_and_changes_none() -> None:
    bench = Bench()
    bench.send("deferred", "locked", "active")
    bench.queue.send([Note("scheduled", scheduled_for=9)], bench.now)
    bench.queue.defer(bench.receive()[1], bench.now)
    bench.receive()
    before = bench.log()
    shown = bench.queue.peek(0, 10, bench.now)
    assert [message.message_id for message in shown] == [
        "deferred",
        "locked",
        "active",
        "scheduled",
    ]
    assert [message.message_id for message in bench.queue.peek(2, 2, bench.now)] == [
        "locked",
        "active",
    ]
    assert bench.log() == before


def test_who_gives_a_message_back_may_change_its_properties() -> None:
    bench = Bench()
    bench.send("a", "b", "c")
    changes = Changes(user={"tries": 1})
    bench.queue.abandon(bench.receive()[1], bench.now, changes)
    message, token = bench.receive()
    assert message.content.properties == {"tries": 1}
    bench.queue.dead_letter(token, "r", "d", bench.now, Changes(user={"tries": 2}))
    bench.queue.defer(bench.receive()[1], bench.now, changes)
    assert bench.queue.messages[0].content.properties == {"tries": 1}
    (buried,) = bench.dead_letters.messages
    assert buried.content.properties == {"tries": 2}


@pytest.mark.parametrize("how", ["abandon", "defer"])
def test_a_settlement_that_changes_too_much_is_refused_and_changes_nothing(how: str) -> None:
    bench = Bench()
    bench.send("a")
    message, token = bench.receive()
    with pytest.raises(AmqpError, match="size quota"):
        getattr(bench.queue, how)(token, bench.now, Changes(user={"p": "x" * 65537}))
    assert message.content.properties == {}
    bench.queue.complete(token, bench.now)


@pytest.mark.parametrize("status", ["Disabled", "SendDisabled"])
def test_a_disabled_queue_takes_nothing(status: str) -> None:
    bench = Bench(status=status)
    with pytest.raises(AmqpError, match="entity-disabled"):
        bench.send("a")


class _Notes:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.available_times = 0

    def available(self) -> None:
        self.available_times += 1

    def session_lost(self) -> None:
        raise AssertionError("there are no sessions here")


def test_others_hear_of_messages_and_of_earlier_deadlines() -> None:
    bench = Bench(lock_duration=timedelta(seconds=60))
    bench.queue.listener = notes = _Notes()
    moments: list[float] = []
    bench.queue.on_due = moments.append
    bench.send("a", ttl=100)
    bench.send("b", ttl=200)
    assert (notes.available_times, moments) == (2, [100])
    bench.receive()
    assert moments == [100, 60]
    assert bench.queue.next_due() == 60
    bench.wait(60)
    assert notes.available_times == 3


def test_nothing_is_due_once_nothing_can_happen() -> None:
    bench = Bench()
    bench.send("a")
    bench.queue.complete(bench.receive()[1], bench.now)
    bench.queue.cancel(bench.queue.send([Note(scheduled_for=9)], bench.now), bench.now)
    assert bench.queue.next_due() == float("inf")
