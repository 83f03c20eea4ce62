"""The shop as it runs: both emulators, and a worker on the real SDKs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient

from idempotent_consumer import Worker
from idempotent_consumer.settings import load_local_settings
from local_azure.cosmos import LocalCosmos
from local_azure.servicebus import Config, LocalServiceBus
from shop.app import orders

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable

    from azure.servicebus.aio import ServiceBusSender

    from idempotent_consumer import Consumer

ROOT = Path(__file__).parents[2]
SETTINGS = load_local_settings(ROOT / "local.settings.sample.json", {})
CONFIG = Config.load(ROOT / "infra/local/Config.json")
WINDOW = 21
"""Seconds after which the queue's duplicate detection has forgotten a MessageId."""
LOCK = 61
"""Seconds after which a lock has lapsed."""


def order(order_id: str = "ord-1001", **changes: Any) -> dict[str, Any]:
    line = {"sku": "SKU-1", "quantity": 2, "unitPrice": "19.99"}
    placed = {"orderId": order_id, "customerId": "cust-77", "currency": "EUR", "lines": [line]}
    return placed | changes


@dataclass
class Shop:
    """The emulators, and what a test does with them."""

    bus: LocalServiceBus
    cosmos: LocalCosmos
    sender: ServiceBusSender
    consumer: Consumer = field(default_factory=lambda: orders)

    @property
    def settings(self) -> dict[str, str]:
        """The sample's, at the ports that were free."""
        ours = {"ServiceBus": self.bus.connection_string, "Cosmos": self.cosmos.connection_string}
        return SETTINGS | ours

    @asynccontextmanager
    async def worker(self, **options: Any) -> AsyncIterator[asyncio.Task[None]]:
        """A worker at work within the context."""
        worker = Worker(self.consumer, queue_name="orders", environment=self.settings, **options)
        working = asyncio.create_task(worker.work())
        try:
            yield working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    @asynccontextmanager
    async def worker_process(self, stderr: int | None = None) -> AsyncIterator[Process]:
        """A worker in a process of its own, killed when the context is left."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "idempotent_consumer.cli", "worker", "--queue", "orders"),
            cwd=ROOT,
            env=os.environ | self.settings,
            stderr=stderr,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def send(self, body: Any, message_id: str | None = "ord-1001", **more: Any) -> None:
        """Sends with the bare SDK, as a producer does."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.sender.send_messages(ServiceBusMessage(raw, message_id=message_id, **more))

    async def send_again(self, body: Any, message_id: str = "ord-1001") -> None:
        """Sends after duplicate detection has forgotten the MessageId."""
        self.bus.clock.advance(WINDOW)
        await self.send(body, message_id)

    async def dead_letters(self) -> list[ServiceBusReceivedMessage]:
        """What is in the dead-letter queue, with the bare SDK."""
        async with (
            ServiceBusClient.from_connection_string(self.bus.connection_string) as client,
            client.get_queue_receiver(
                "orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER
            ) as receiver,
        ):
            return await receiver.receive_messages(max_message_count=100, max_wait_time=1)

    def documents(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The stored documents, of one type where given."""
        stored = self.cosmos.documents("shop/orders")
        return [document for document in stored if kind in (None, document["type"])]

    def happened(self, name: str, key: str | None = "ord-1001") -> int:
        """How often the bus did that to the message with this id."""
        return len(self.bus.events.of(name, key=key))

    def store_calls(self) -> list[str]:
        """What reached the store's documents, in order."""
        calls = {"create", "batch", "read", "replace", "upsert", "delete"}
        return [event.name for event in self.cosmos.events if event.name in calls]

    async def completed(self, times: int = 1, key: str = "ord-1001") -> None:
        await until(lambda: self.happened("completed", key) >= times)

    async def dead_lettered(self, times: int = 1, key: str = "ord-1001") -> None:
        await until(lambda: self.happened("dead_lettered", key) >= times)


@asynccontextmanager
async def open_shop() -> AsyncIterator[Shop]:
    async with (
        LocalServiceBus(CONFIG) as bus,
        LocalCosmos({"shop/orders": "/orderId"}, clock=bus.clock) as cosmos,
        ServiceBusClient.from_connection_string(bus.connection_string) as client,
        client.get_queue_sender("orders") as sender,
    ):
        yield Shop(bus, cosmos, sender)


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Waits for something that another task brings about."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # no event tells of it
            await asyncio.sleep(0.01)
