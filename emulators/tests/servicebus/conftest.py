"""An emulator, and Microsoft's client for it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender

from local_azure.servicebus import LocalServiceBus, QueueProperties

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage

WAIT = 5.0
QUEUES = {
    "orders": QueueProperties(requires_duplicate_detection=True),
    "expiring": QueueProperties(
        dead_lettering_on_message_expiration=True,
        default_message_time_to_live=timedelta(minutes=10),
    ),
}


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a queue, open."""

    sender: ServiceBusSender
    receiver: ServiceBusReceiver

    async def send(self, *messages: ServiceBusMessage) -> None:
        for message in messages:
            await self.sender.send_messages(message)

    async def receive(self) -> ServiceBusReceivedMessage:
        return await receive_one(self.receiver)


async def receive_one(receiver: ServiceBusReceiver) -> ServiceBusReceivedMessage:
    """The next message, which must come."""
    (message,) = await receiver.receive_messages(1, max_wait_time=WAIT)
    return message


QUICK: dict[str, Any] = {"keep_alive": 0, "socket_timeout": 0.05}
"""Settings of an end that does not linger when it is closed."""


@asynccontextmanager
async def connect(
    bus: LocalServiceBus, *, key: str = "SAS_KEY_VALUE", **settings: Any
) -> AsyncIterator[ServiceBusClient]:
    """A client that soon tries again."""
    async with (
        _no_socket_left_open(),
        ServiceBusClient.from_connection_string(
            bus.connection_string.replace("SAS_KEY_VALUE", key),
            **{"retry_backoff_factor": 0.01, **settings},
        ) as client,
    ):
        yield client


@asynccontextmanager
async def _no_socket_left_open() -> AsyncIterator[None]:
    """Closes what the client leaves open: the sockets of connections that broke."""
    loop = asyncio.get_running_loop()
    create_connection = loop.create_connection
    transports: list[asyncio.Transport] = []

    async def remember(*args: Any, **kwargs: Any) -> Any:
        transport, protocol = await create_connection(*args, **kwargs)
        transports.append(transport)
        return transport, protocol

    loop.create_connection = remember  # type: ignore[method-assign]
    try:
        yield
    finally:
        loop.create_connection = create_connection  # type: ignore[method-assign]
        for transport in transports:
            transport.abort()
        await asyncio.sleep(0)


@asynccontextmanager
async def ends_of(client: ServiceBusClient, queue: str) -> AsyncIterator[Ends]:
    """Opens both ends at once, since each takes half a second of the client's own."""
    ends = Ends(
        client.get_queue_sender(queue, **QUICK),
        # With nothing to prefetch the client lingers, whatever its settings.
        client.get_queue_receiver(queue, prefetch_count=1, **QUICK),
    )
    try:
        await asyncio.gather(ends.sender.__aenter__(), ends.receiver.__aenter__())
        yield ends
    finally:
        await asyncio.gather(ends.sender.close(), ends.receiver.close())


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    async with LocalServiceBus(QUEUES) as bus:
        yield bus


@pytest.fixture
async def client(bus: LocalServiceBus) -> AsyncIterator[ServiceBusClient]:
    async with connect(bus) as client:
        yield client


@pytest.fixture
async def ends(client: ServiceBusClient) -> AsyncIterator[Ends]:
    async with ends_of(client, "orders") as ends:
        yield ends
