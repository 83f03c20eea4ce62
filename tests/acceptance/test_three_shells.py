"""The commands of the README, as a user types them into three shells."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azure.cosmos.aio import CosmosClient
from azure.servicebus import ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient

from tests.acceptance.shop import ROOT, SETTINGS, order

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Mapping

BIN = Path(sys.executable).parent
LISTENING = ("ServiceBus", "Cosmos", "Admin")


@asynccontextmanager
async def shell(*command: str, **settings: str) -> AsyncIterator[Process]:
    """A command of this environment; it is told to stop when the context is left."""
    process = await asyncio.create_subprocess_exec(
        BIN / command[0],
        *command[1:],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def addresses(local_azure: Process) -> dict[str, str]:
    assert local_azure.stdout is not None
    lines = [(await local_azure.stdout.readline()).decode().strip() for _ in LISTENING]
    return dict(line.split("=", 1) for line in lines)


async def send(body: Any, message_id: str, settings: Mapping[str, str]) -> dict[str, Any]:
    text = json.dumps(body)
    arguments = ("--queue", "orders", "--message-id", message_id, "--json", text)
    async with shell("idempotent-consumer", "send", *arguments, **settings) as process:
        said, _ = await process.communicate()
        assert process.returncode == 0
    sent: dict[str, Any] = json.loads(said)
    return sent


async def outcomes(worker: Process, count: int) -> list[str]:
    assert worker.stderr is not None
    found: list[str] = []
    while len(found) < count:
        line = json.loads(await worker.stderr.readline())
        found += [line["outcome"]] if "outcome" in line else []
    return found


async def test_order_and_dead_letter_are_seen_by_the_bare_sdks() -> None:
    emulators = (
        *("--service-bus", "infra/local/Config.json", "--cosmos", "infra/local/cosmos.json"),
        *("--service-bus-port", "0", "--cosmos-port", "0", "--admin-port", "0"),
    )
    async with shell("local-azure", *emulators) as local_azure:
        where = await addresses(local_azure)
        settings = SETTINGS | {name: where[name] for name in ("ServiceBus", "Cosmos")}
        arguments = ("--app", "shop.app:orders", "--queue", "orders", "--json", "--verbose")
        async with shell("idempotent-consumer", "worker", *arguments, **settings) as worker:
            assert await send(order(), "ord-1001", settings) == {
                "sent": "ord-1001",
                "queue": "orders",
            }
            await send(order("ord-7"), "ord-1002", settings)
            assert await outcomes(worker, 2) == ["applied", "rejected"]
            worker.terminate()
            assert await worker.wait() == 0
        assert await stored_order(where["Cosmos"]) == "cust-77"
        assert await dead_letter(where["ServiceBus"]) == (
            "KeyDisagrees",
            "the document's /orderId is not the key",
        )
        local_azure.terminate()
        assert await local_azure.wait() == 0


async def stored_order(connection: str) -> str:
    async with CosmosClient.from_connection_string(connection) as client:
        container = client.get_database_client("shop").get_container_client("orders")
        stored = await container.read_item("ord-1001", partition_key="ord-1001")
    return str(stored["customerId"])


async def dead_letter(connection: str) -> tuple[str | None, str | None]:
    async with (
        ServiceBusClient.from_connection_string(connection) as client,
        client.get_queue_receiver("orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver,
    ):
        (letter,) = await receiver.receive_messages(max_wait_time=5)
    return letter.dead_letter_reason, letter.dead_letter_error_description
