"""The worker on an emulated queue, with a store in memory."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.core.decide import Complete
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.engine.events import Handled
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.servicebus.client import client_from_connection_string
from idempotent_consumer.servicebus.events import (
    LockNotRenewed,
    QueueAvailable,
    QueueUnavailable,
    WorkerStopped,
)
from idempotent_consumer.testing import MemoryStore
from idempotent_consumer.worker import renewal
from local_azure.faults import Drop, Fail, Hang
from tests.hosts.emulated import (
    LOCK,
    QUEUE,
    breaks_connections,
    hosted,
    local_bus,
    send_orders,
    until,
)

if TYPE_CHECKING:
    from azure.servicebus.aio import ServiceBusClient

    from idempotent_consumer.core.commit import CommitResult
    from idempotent_consumer.core.plan import Plan
    from local_azure.clock import Clock as EmulatorClock
    from local_azure.servicebus import LocalServiceBus


class SlowStore(MemoryStore):
    """Commits when it is allowed to, and remembers how many waited at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed = asyncio.Event()
        self.waiting = 0
        self.most_waiting = 0

    async def commit(self, plan: Plan) -> CommitResult:
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)
        await self.allowed.wait()
        self.waiting -= 1
        return await super().commit(plan)


class SharedClock:
    """Passes with the emulator's clock; the time of day is the machine's, as locks show it."""

    def __init__(self, clock: EmulatorClock) -> None:
        self._clock = clock
        self.asleep = 0

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return self._clock.now()

    async def sleep(self, seconds: float) -> None:
        self.asleep += 1
        try:
            await self._clock.wait_until(self._clock.now() + seconds)
        finally:
            self.asleep -= 1


async def test_each_order_becomes_one_document_and_leaves_the_queue(
    bus: LocalServiceBus, client: ServiceBusClient, store: MemoryStore
) -> None:
    await send_orders(client, 40)
    async with hosted(client, store) as host:
        await until(lambda: len(bus.events.of("completed")) == 40)
    assert set(store.documents) == {(f"ord-{n}", f"ord-{n}") for n in range(40)}
    assert bus.queue(QUEUE).messages == ()
    assert host.recorder.of(WorkerStopped) == [WorkerStopped(queue=QUEUE, unfinished=0)]


async def test_so_many_deliveries_are_handled_at_a_time_and_no_more_are_locked(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    store = SlowStore()
    await send_orders(client, 9)
    async with hosted(client, store, concurrency=3):
        await until(lambda: store.waiting == 3)
        assert bus.queue(QUEUE).locked_count == 3
        store.allowed.set()
        await until(lambda: len(bus.events.of("completed")) == 9)
    assert store.most_waiting == 3


@pytest.mark.case("LOCK-04")
async def test_a_lock_is_renewed_while_the_store_is_slow(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    store = SlowStore()
    await send_orders(client, 1)
    clock = SharedClock(bus.clock)
    async with hosted(client, store, clock=clock) as host:
        for _ in range(3):
            await until(lambda: store.waiting and clock.asleep)
            bus.clock.advance(LOCK.total_seconds() * 2 / 3)
            await until(lambda: not clock.asleep)
        store.allowed.set()
        await until(lambda: bus.events.of("completed"))
    assert bus.events.of("lock_expired") == []
    assert [handled.settled for handled in host.recorder.of(Handled)] == [Settled.CONFIRMED]


@pytest.mark.case("LOCK-06")
async def test_a_renewal_that_is_never_answered_holds_up_no_settlement(
    bus: LocalServiceBus, client: ServiceBusClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewal, "LONGEST_CALL", 0.2)
    hanging = bus.faults.add(Hang(applied=False), operation="renew")
    store = SlowStore()
    await send_orders(client, 1)
    clock = SharedClock(bus.clock)
    async with hosted(client, store, clock=clock) as host:
        await until(lambda: store.waiting and clock.asleep)
        bus.clock.advance(LOCK.total_seconds() * 2 / 3)
        await until(lambda: hanging.hits)
        store.allowed.set()
        await until(lambda: bus.events.of("completed"))
    (lapsing,) = host.recorder.of(LockNotRenewed)
    assert lapsing.cause == "TimeoutError"


@breaks_connections
async def test_a_delivery_whose_connection_and_lock_are_lost_is_recognised_when_it_returns(
    store: MemoryStore,
) -> None:
    async with (
        local_bus(locks_on_connection_loss="drop") as bus,
        client_from_connection_string(bus.connection_string) as client,
    ):
        await send_orders(client, 1)
        bus.faults.add(Drop(applied=False), operation="complete")
        async with hosted(client, store) as host:
            await until(lambda: bus.events.of("completed"))
    first, second = host.recorder.of(Handled)
    assert (first.outcome.name, first.settled) == (OutcomeName.APPLIED, Settled.LOCK_LOST)
    assert (second.outcome.name, second.settled) == (OutcomeName.DUPLICATE, Settled.CONFIRMED)
    assert len(store.documents) == 1
    gc.collect()


@breaks_connections
async def test_a_connection_that_breaks_is_opened_again(
    bus: LocalServiceBus, client: ServiceBusClient, store: MemoryStore
) -> None:
    bus.faults.add(Drop(applied=False), operation="deliver")
    async with hosted(client, store):
        await send_orders(client, 1)
        await until(lambda: bus.events.of("completed"))
    assert len(store.documents) == 1
    gc.collect()


async def test_a_graceful_stop_finishes_what_was_begun_and_leaves_the_rest_untouched(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    store = SlowStore()
    await send_orders(client, 30)
    async with hosted(client, store, concurrency=8) as host:
        await until(lambda: store.waiting == 8)
        host.worker.stop()
        store.allowed.set()
        await host.running
    queue = bus.queue(QUEUE)
    assert len(store.documents) == len(bus.events.of("completed")) == 8
    assert (queue.active_count, queue.locked_count) == (22, 0)
    assert {message.delivery_count for message in queue.messages} == {0}


async def test_a_stop_in_full_flight_leaves_no_message_locked(
    bus: LocalServiceBus, client: ServiceBusClient, store: MemoryStore
) -> None:
    await send_orders(client, 300)
    async with hosted(client, store) as host:
        await until(lambda: len(store.documents) > 50)
        await host.stop()
    queue = bus.queue(QUEUE)
    assert queue.locked_count == 0
    assert queue.active_count + len(store.documents) == 300
    assert {message.delivery_count for message in queue.messages} <= {0}


async def test_what_outlasts_the_grace_period_is_let_go_unsettled(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    store = SlowStore()
    await send_orders(client, 1)
    async with hosted(client, store, grace=0.05) as host:
        await until(lambda: store.waiting)
    assert host.recorder.of(WorkerStopped) == [WorkerStopped(queue=QUEUE, unfinished=1)]
    assert bus.queue(QUEUE).locked_count == 1
    assert not bus.events.of("completed")


@breaks_connections
async def test_a_broker_that_is_not_there_yet_is_waited_for(store: MemoryStore) -> None:
    port = free_port()
    not_yet = local_bus(port=port)
    async with (
        client_from_connection_string(not_yet.connection_string) as client,
        hosted(client, store) as host,
    ):
        await until(lambda: host.recorder.of(QueueUnavailable))
        async with not_yet as bus:
            await send_orders(client, 1)
            await until(lambda: bus.events.of("completed"))
            await host.stop()
    tried = host.recorder.of(QueueUnavailable)[0]
    assert (tried.cause, tried.namespace) == ("unreachable", f"127.0.0.1:{port}")
    assert host.recorder.of(QueueAvailable) == [
        QueueAvailable(queue=QUEUE, namespace=f"127.0.0.1:{port}")
    ]
    gc.collect()


@breaks_connections
async def test_an_unauthorized_identity_is_told_the_role_and_tried_again(
    bus: LocalServiceBus, client: ServiceBusClient, store: MemoryStore
) -> None:
    await send_orders(client, 1)
    denied = bus.faults.add(
        Fail(code="amqp:unauthorized-access"), operation="attach", entity=QUEUE, times=None
    )
    async with hosted(client, store) as host:
        await until(lambda: host.recorder.of(QueueUnavailable))
        bus.faults.remove(denied)
        await until(lambda: bus.events.of("completed"))
    (event, *_) = host.recorder.of(QueueUnavailable)
    assert event.cause == "unauthorized"
    assert re.search(
        'az role assignment create --role "Azure Service Bus Data Receiver" .*/queues/orders',
        event.advice,
    )
    gc.collect()


async def test_a_delivery_that_is_not_renewable_is_still_handled(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    store = SlowStore()
    await send_orders(client, 1)
    bus.faults.add(Fail(code="com.microsoft:message-lock-lost"), operation="renew")
    clock = SharedClock(bus.clock)
    async with hosted(client, store, clock=clock) as host:
        await until(lambda: store.waiting and clock.asleep)
        bus.clock.advance(LOCK.total_seconds() * 2 / 3)
        await until(lambda: host.recorder.of(LockNotRenewed))
        store.allowed.set()
        await until(lambda: host.recorder.of(Handled))
    (handled,) = host.recorder.of(Handled)
    assert handled.settlement == Complete()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
