"""What the worker decides: how many it takes, when it waits, and what it survives."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus._pyamqp.message import Message, Properties
from azure.servicebus.exceptions import MessagingEntityNotFoundError

from idempotent_consumer.core.profile import Profile
from idempotent_consumer.servicebus.diagnosis import QueueAddress
from idempotent_consumer.servicebus.events import (
    HandlingBroke,
    QueueAvailable,
    QueueUnavailable,
    WorkerEvent,
    WorkerStopped,
)
from idempotent_consumer.testing import VirtualClock
from idempotent_consumer.worker.worker import (
    BUSY_WAIT,
    IDLE_WAIT,
    LONGEST_BUSY_WAIT,
    LONGEST_PAUSE,
    QueueWorker,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.engine import Engine
    from idempotent_consumer.servicebus.receiver import QueueReceiver

ADDRESS = QueueAddress(namespace="shop.servicebus.windows.net", queue="orders")


def message(key: str) -> ServiceBusReceivedMessage:
    raw = Message(properties=Properties(message_id=key.encode()), data=[b"{}"])
    return ServiceBusReceivedMessage(raw, receiver=None)


@dataclass
class FakeReceiver:
    """Answers each call with the next entry; then there is nothing to receive for ever."""

    answers: deque[list[ServiceBusReceivedMessage] | Exception]
    asked_for: list[int] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    round_trip: float = 0.0
    address: QueueAddress = ADDRESS
    exhausted: asyncio.Event = field(default_factory=asyncio.Event)
    closed: int = 0

    async def receive(self, count: int, wait: float) -> list[ServiceBusReceivedMessage]:
        if not self.answers:
            self.exhausted.set()
            await asyncio.Event().wait()
        self.asked_for.append(count)
        self.waits.append(wait)
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed += 1


@dataclass
class FakeEngine:
    """Is the engine and its circuit: handles when it is let."""

    trial: bool = False
    closed: Exception | None = None
    broken: bool = False
    allowed: asyncio.Event = field(default_factory=asyncio.Event)
    handling: set[str | None] = field(default_factory=set)
    handled: list[str | None] = field(default_factory=list)

    @property
    def circuit(self) -> FakeEngine:
        return self

    @asynccontextmanager
    async def admission(self) -> AsyncIterator[bool]:
        if self.closed:
            raise self.closed
        yield self.trial

    async def handle(self, delivery: Delivery, settler: object) -> None:
        self.handling.add(delivery.message_id)
        await self.allowed.wait()
        self.handling.remove(delivery.message_id)
        if self.broken:
            raise KeyError("secret")
        self.handled.append(delivery.message_id)


@dataclass
class Recorder:
    events: list[WorkerEvent] = field(default_factory=list)

    def record(self, event: WorkerEvent) -> None:
        self.events.append(event)


@dataclass
class Fixture:
    """A worker on fakes, running."""

    engine: FakeEngine
    receiver: FakeReceiver
    recorder: Recorder
    worker: QueueWorker
    running: asyncio.Task[None]

    async def stop(self) -> list[WorkerEvent]:
        self.worker.stop()
        await self.running
        return self.recorder.events


def started(
    *answers: list[ServiceBusReceivedMessage] | Exception,
    engine: FakeEngine,
    clock: Any = None,
    **options: Any,
) -> Fixture:
    receiver, recorder = FakeReceiver(deque(answers)), Recorder()
    worker = QueueWorker(
        cast("Engine", engine),
        cast("QueueReceiver", receiver),
        profile=Profile(),
        clock=clock or VirtualClock(),
        telemetry=recorder,
        chance=lambda: 1.0,
        **options,
    )
    return Fixture(engine, receiver, recorder, worker, asyncio.create_task(worker.run()))


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_first_message_is_asked_for_by_itself_and_then_all_that_may_be_handled() -> None:
    worker = started([message("a")], [message("b")], engine=FakeEngine(), concurrency=4)
    await worker.receiver.exhausted.wait()
    assert worker.receiver.asked_for == [1, 3]
    worker.engine.allowed.set()
    await worker.stop()


@pytest.mark.parametrize(
    ("round_trip", "wait"), [(0.001, BUSY_WAIT), (0.1, 0.3), (9.0, LONGEST_BUSY_WAIT)]
)
async def test_a_receive_call_outlasts_the_way_to_a_queue_far_off(
    round_trip: float, wait: float
) -> None:
    worker = started([message("a")], [message("b")], engine=FakeEngine(), concurrency=4)
    worker.receiver.round_trip = round_trip
    await worker.receiver.exhausted.wait()
    assert worker.receiver.waits == [IDLE_WAIT, pytest.approx(wait)]
    worker.engine.allowed.set()
    await worker.stop()


async def test_on_trial_one_message_is_handled_before_the_next_is_received() -> None:
    worker = started([message("a")], [message("b")], engine=FakeEngine(trial=True))
    await turns()
    assert worker.receiver.asked_for == [1]
    assert worker.engine.handling == {"a"}
    worker.engine.allowed.set()
    await worker.receiver.exhausted.wait()
    assert worker.receiver.asked_for == [1, 1]
    assert worker.engine.handled == ["a", "b"]
    await worker.stop()


@pytest.mark.case("SET-07")
async def test_a_bug_met_by_one_message_spares_the_others() -> None:
    engine = FakeEngine(broken=True)
    engine.allowed.set()
    worker = started([message("a")], [message("b")], engine=engine)
    await worker.receiver.exhausted.wait()
    await turns()
    events = await worker.stop()
    broke = [event for event in events if isinstance(event, HandlingBroke)]
    assert [(event.delivery.message_id, event.error) for event in broke] == [
        ("a", "KeyError"),
        ("b", "KeyError"),
    ]


async def test_a_bug_in_taking_messages_ends_the_worker_and_is_not_hidden() -> None:
    worker = started(engine=FakeEngine(closed=KeyError("bug")))
    with pytest.raises(KeyError, match="bug"):
        await worker.running
    assert worker.receiver.closed == 1


async def test_a_queue_in_trouble_is_tried_again_after_longer_and_longer_pauses() -> None:
    clock = VirtualClock()
    missing = [MessagingEntityNotFoundError()] * 7

    async def scene() -> list[WorkerEvent]:
        worker = started(*missing, [], engine=FakeEngine(), clock=clock)
        await worker.receiver.exhausted.wait()
        events = await worker.stop()
        assert worker.receiver.closed == len(missing) + 1
        return events

    *tried, available, stopped = await clock.run(scene())
    pauses = [event.retry_in for event in tried if isinstance(event, QueueUnavailable)]
    assert pauses == [1, 2, 4, 8, 16, LONGEST_PAUSE, LONGEST_PAUSE]
    assert clock.monotonic() == sum(pauses)
    assert available == QueueAvailable(queue="orders", namespace=ADDRESS.namespace)
    assert stopped == WorkerStopped(queue="orders", unfinished=0)


async def test_trouble_is_told_with_what_would_mend_it() -> None:
    clock = VirtualClock()

    async def scene() -> list[WorkerEvent]:
        worker = started(MessagingEntityNotFoundError(), engine=FakeEngine(), clock=clock)
        await worker.receiver.exhausted.wait()
        return await worker.stop()

    event, *_ = await clock.run(scene())
    assert isinstance(event, QueueUnavailable)
    assert (event.queue, event.cause) == ("orders", "not found")
    assert "az servicebus queue create" in event.advice


async def test_being_cancelled_counts_as_being_stopped() -> None:
    worker = started([message("a")], engine=FakeEngine())
    await worker.receiver.exhausted.wait()
    worker.running.cancel()
    await turns()
    worker.engine.allowed.set()
    with pytest.raises(asyncio.CancelledError):
        await worker.running
    assert worker.engine.handled == ["a"]
    assert worker.recorder.events[-1] == WorkerStopped(queue="orders", unfinished=0)
