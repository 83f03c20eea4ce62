"""The worker as a process: how it ends, and what the next one finds."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.servicebus.sender import OutgoingMessage, send
from tests.hosts.emulated import LOCK, QUEUE, send_orders, until

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

    from azure.servicebus.aio import ServiceBusClient

    from local_azure.servicebus import LocalServiceBus

SECRET = "card 4111"


@asynccontextmanager
async def process(bus: LocalServiceBus, behaviour: str) -> AsyncIterator[Process]:
    """A worker process; it is killed when the context is left, if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.hosts.program", bus.connection_string, behaviour),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def send_poison(client: ServiceBusClient) -> None:
    body = json.dumps({"orderId": "poison", "note": SECRET}).encode()
    await send(client, QUEUE, [OutgoingMessage(message_id="poison", body=body)])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_gracefully(
    bus: LocalServiceBus, client: ServiceBusClient, number: signal.Signals
) -> None:
    await send_orders(client, 3)
    async with process(bus, "place") as worker:
        await until(lambda: len(bus.events.of("completed")) == 3)
        worker.send_signal(number)
        output, errors = await worker.communicate()
    assert (worker.returncode, output, errors) == (0, b"", b"")


@pytest.mark.parametrize(
    ("behaviour", "code", "function"), [("block", 70, b"block"), ("match", 1, b"match_for_ever")]
)
async def test_a_handler_that_blocks_ends_it_and_is_named_without_any_value(
    bus: LocalServiceBus, client: ServiceBusClient, behaviour: str, code: int, function: bytes
) -> None:
    await send_poison(client)
    async with process(bus, behaviour) as worker:
        _, errors = await worker.communicate()
    assert worker.returncode == code
    assert b" in " + function in errors
    assert SECRET.encode() not in errors


async def test_a_message_that_kills_it_does_not_keep_the_next_one_from_the_others(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    await send_poison(client)
    async with process(bus, "die") as first:
        assert await first.wait() == 9
    await send_orders(client, 5)
    async with process(bus, "die") as second:
        await until(lambda: len(bus.events.of("completed")) == 5)
        bus.clock.advance(LOCK.total_seconds() + 1)
        assert await second.wait() == 9
    assert [event.detail for event in bus.events.of("delivered", key="poison")] == ["0", "1"]
