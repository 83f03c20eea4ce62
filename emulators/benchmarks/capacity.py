"""``python -m emulators.benchmarks.capacity``: many messages in a queue, many connections.

Prints the time to send and to receive them, and the memory that they take.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient

from emulators.benchmarks.emulated import emulated, say, service_bus

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulators.benchmarks.emulated import Used

BATCH = 500
BODY = b"x" * 200


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=50)
    options = parser.parse_args()
    with emulated(service_bus) as (connection_string, used):
        asyncio.run(_measure(connection_string, used, options.messages, options.connections))


async def _measure(
    connection_string: str, used: Callable[[], Used], messages: int, connections: int
) -> None:
    empty = used()
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                ServiceBusClient.from_connection_string(connection_string)
            )
            for _ in range(connections)
        ]
        share = messages // connections
        began = time.monotonic()
        await asyncio.gather(*(_send(client, share) for client in clients))
        _say(f"{share * connections} messages sent by {connections} connections", began, used)
        began = time.monotonic()
        received = await asyncio.gather(*map(_receive, clients))
        _say(f"{sum(received)} of them received and completed", began, used)
    say(f"memory of the emulator: {empty.memory:.0f} MiB empty, {used().memory:.0f} MiB at most")


async def _send(client: ServiceBusClient, count: int) -> None:
    async with client.get_queue_sender("orders") as sender:
        for sent in range(0, count, BATCH):
            batch = await sender.create_message_batch()
            for _ in range(min(BATCH, count - sent)):
                batch.add_message(ServiceBusMessage(BODY))
            await sender.send_messages(batch)


async def _receive(client: ServiceBusClient, count: int = 100) -> int:
    """Receives one batch, and completes it."""
    async with client.get_queue_receiver("orders") as receiver:
        messages = await receiver.receive_messages(count, max_wait_time=10)
        for message in messages:
            await receiver.complete_message(message)
    return len(messages)


def _say(what: str, began: float, used: Callable[[], Used]) -> None:
    now = used()
    say(f"{what}: {time.monotonic() - began:.1f} s, CPU {now.seconds:.1f} s, {now.memory:.0f} MiB")


if __name__ == "__main__":
    main()
