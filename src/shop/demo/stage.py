"""Where the story is played: two emulators in this process, a worker in another."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azure.servicebus import ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient

from local_azure.clock import Clock
from local_azure.cosmos import LocalCosmos, load_containers
from local_azure.events import EventLog
from local_azure.servicebus import Config, LocalServiceBus
from shop.demo.evidence import Evidence
from shop.demo.facts import DeadLetter
from shop.demo.worker import WorkerProcess, working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from azure.servicebus import ServiceBusMessage
    from azure.servicebus.aio import ServiceBusSender

ROOT = Path(__file__).parents[3]
ENTITIES = ROOT / "infra" / "local" / "Config.json"
CONTAINERS = ROOT / "infra" / "local" / "cosmos.json"
SETTINGS = ROOT / "local.settings.sample.json"
QUEUE = "orders"
CONTAINER = "shop/orders"

PATIENCE = 20.0
"""Seconds that a scene waits for what must happen; nothing of it should take 3."""


class Stalled(Exception):
    """What a scene waited for did not happen; the text names it."""


class Stage:
    """What a scene can do, and what it can see.

    Attributes:
        bus: The broker.
        cosmos: The store.
        worker: The consumer.
    """

    def __init__(
        self,
        bus: LocalServiceBus,
        cosmos: LocalCosmos,
        worker: WorkerProcess,
        client: ServiceBusClient,
        producer: ServiceBusSender,
    ) -> None:
        self.bus = bus
        self.cosmos = cosmos
        self.worker = worker
        self._client = client
        self._producer = producer
        self.begin_scene()

    async def send(self, *messages: ServiceBusMessage) -> None:
        """Sends them one after the other; the broker has each when this returns."""
        for message in messages:
            await self._producer.send_messages(message)
            _stop_if_cancelled()

    def pass_window(self) -> None:
        """Lets the time go by for which the broker remembers a MessageId."""
        queue = self.bus.queue(QUEUE).properties
        self.bus.clock.advance(queue.duplicate_detection_history_time_window.total_seconds() + 1)

    def pass_lock(self) -> None:
        """Lets the time go by for which a delivery is locked."""
        self.bus.clock.advance(self.bus.queue(QUEUE).properties.lock_duration.total_seconds() + 1)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Waits for what must happen.

        Raises:
            Stalled: It did not, in time.
            WorkerEnded: It cannot any more.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                while not condition():
                    await asyncio.sleep(0.01)
                    self.worker.check()
        except TimeoutError:
            raise Stalled(what) from None

    def begin_scene(self) -> None:
        """Forgets what was seen so far."""
        self.bus.events.clear()
        self.worker.lines.clear()

    def evidence(self) -> Evidence:
        """What was seen since the scene began."""
        return Evidence(
            events=tuple(self.bus.events),
            lines=tuple(self.worker.lines),
            documents=self.documents(),
        )

    def documents(self) -> list[dict[str, Any]]:
        """What is stored."""
        return self.cosmos.documents(CONTAINER)

    async def dead_letters(self) -> tuple[DeadLetter, ...]:
        """The dead-letter queue, as any receiver sees it; nothing is taken out."""
        count = self.bus.queue(QUEUE).dead_letter_count
        if not count:
            return ()
        async with self._client.get_queue_receiver(
            QUEUE, sub_queue=ServiceBusSubQueue.DEAD_LETTER
        ) as receiver:
            messages = await receiver.receive_messages(count, max_wait_time=PATIENCE)
        return tuple(
            DeadLetter(
                message_id=message.message_id,
                reason=message.dead_letter_reason or "",
                description=message.dead_letter_error_description or "",
            )
            for message in messages
        )


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    """Emulators, worker and producer; gone, whatever happens, when the context is left."""
    clock, events = Clock(), EventLog()
    async with (
        LocalServiceBus(Config.load(ENTITIES), clock=clock, events=events) as bus,
        LocalCosmos(load_containers(CONTAINERS), clock=clock, events=events) as cosmos,
        ServiceBusClient.from_connection_string(bus.connection_string) as client,
        client.get_queue_sender(QUEUE) as producer,
        working(_worker(bus, cosmos)) as worker,
    ):
        yield Stage(bus, cosmos, worker, client, producer)


def _worker(bus: LocalServiceBus, cosmos: LocalCosmos) -> WorkerProcess:
    """A worker with the sample's settings; the environment, which says where to go, wins."""
    identities = ("ServiceBus__", "Cosmos__")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(identities)}
    places = {"ServiceBus": bus.connection_string, "Cosmos": cosmos.connection_string}
    options = ("--queue", QUEUE, "--settings", str(SETTINGS))
    return WorkerProcess(options, kept | places, ROOT)


def _stop_if_cancelled() -> None:
    """Raises what the SDK swallows if it comes while it reads its socket."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
