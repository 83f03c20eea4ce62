"""An emulated queue, and all that a worker on it is made of."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from idempotent_consumer.core.profile import Profile
from idempotent_consumer.engine.circuit import Circuit
from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.engine.engine import Engine
from idempotent_consumer.servicebus.receiver import QueueReceiver
from idempotent_consumer.servicebus.sender import OutgoingMessage, send
from idempotent_consumer.worker.worker import QueueWorker
from local_azure.servicebus import LocalServiceBus, QueueProperties
from tests.unit.core.samples import order_consumer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager

    from azure.servicebus.aio import ServiceBusClient

    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.engine.ports import Clock, Store
    from idempotent_consumer.servicebus.events import WorkerEvent

Kind = TypeVar("Kind")

QUEUE = "orders"
LOCK = timedelta(seconds=60)

breaks_connections = pytest.mark.filterwarnings("ignore::ResourceWarning")
"""The SDK leaves a socket without TLS, whose peer has gone, to the garbage collector: a test
that breaks connections bears that, and calls `gc.collect` so that no other test has to."""


def local_bus(**options: Any) -> LocalServiceBus:
    """A namespace with one queue."""
    properties = QueueProperties(max_delivery_count=10, lock_duration=LOCK)
    return LocalServiceBus({QUEUE: properties}, **options)


def order(number: int) -> OutgoingMessage:
    key = f"ord-{number}"
    return OutgoingMessage(message_id=key, body=json.dumps({"orderId": key}).encode())


async def send_orders(client: ServiceBusClient, how_many: int) -> None:
    await send(client, QUEUE, [order(number) for number in range(how_many)])


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Returns once the condition holds; fails after so many seconds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # the emulator and the SDK signal nothing
            await asyncio.sleep(0.005)


@dataclass(slots=True)
class Recorder:
    """Keeps what engine and worker report."""

    events: list[Event | WorkerEvent] = field(default_factory=list)

    def handling(self, delivery: Delivery) -> AbstractContextManager[None]:
        return nullcontext()

    def record(self, event: Event | WorkerEvent) -> None:
        self.events.append(event)

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A running worker, and what it reported."""

    worker: QueueWorker
    running: asyncio.Task[None]
    recorder: Recorder

    async def stop(self) -> None:
        self.worker.stop()
        await self.running


@asynccontextmanager
async def hosted(
    client: ServiceBusClient,
    store: Store,
    *,
    consumer: Consumer | None = None,
    profile: Profile = Profile(),  # noqa: B008  # frozen
    clock: Clock = SystemClock(),  # noqa: B008  # stateless
    **options: Any,
) -> AsyncIterator[Hosted]:
    """A worker that runs within the context; leaving it stops the worker."""
    recorder, tokens = Recorder(), count()
    engine = Engine(
        consumer or order_consumer(),
        store,
        Circuit(store.probe, container="shop/orders", clock=clock, telemetry=recorder),
        profile=profile,
        clock=clock,
        telemetry=recorder,
        chance=lambda: 0.0,
        new_token=lambda: f"token-{next(tokens)}",
    )
    worker = QueueWorker(
        engine,
        QueueReceiver(client, QUEUE),
        profile=profile,
        clock=clock,
        telemetry=recorder,
        chance=lambda: 0.0,
        **options,
    )
    running = asyncio.create_task(worker.run())
    host = Hosted(worker=worker, running=running, recorder=recorder)
    try:
        yield host
    finally:
        await host.stop()
