"""The command ``local-azure``, as a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from azure.cosmos.aio import CosmosClient
from azure.servicebus.aio import ServiceBusClient

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator
    from pathlib import Path

CONTAINER = {"id": "orders", "partitionKey": {"paths": ["/orderId"], "kind": "Hash", "version": 2}}
COSMOS = {"databases": [{"id": "shop", "containers": [CONTAINER]}]}
SERVICE_BUS = {
    "UserConfig": {
        "Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders", "Properties": {}}]}],
        "Logging": {"Type": "Console"},
    }
}
FREE_PORTS = ("--service-bus-port=0", "--cosmos-port=0", "--admin-port=0")


def _file(folder: Path, name: str, content: Any) -> str:
    path = folder / name
    path.write_text(json.dumps(content))
    return str(path)


@asynccontextmanager
async def _started(*arguments: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "local_azure",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _announced(process: Process, lines: int) -> dict[str, str]:
    assert process.stdout is not None
    read = [(await process.stdout.readline()).decode().strip() for _ in range(lines)]
    return dict(line.split("=", 1) for line in read)


async def _ended(*arguments: str) -> tuple[int | None, str]:
    async with _started(*arguments) as process:
        _, errors = await process.communicate()
        return process.returncode, errors.decode()


async def test_it_serves_both_emulators_until_it_is_stopped(tmp_path: Path) -> None:
    files = (
        f"--service-bus={_file(tmp_path, 'Config.json', SERVICE_BUS)}",
        f"--cosmos={_file(tmp_path, 'cosmos.json', COSMOS)}",
    )
    async with _started(*files, *FREE_PORTS) as process:
        urls = await _announced(process, 3)
        async with CosmosClient.from_connection_string(urls["Cosmos"]) as cosmos:
            orders = cosmos.get_database_client("shop").get_container_client("orders")
            await orders.create_item({"id": "a", "orderId": "1"})
        async with ServiceBusClient.from_connection_string(urls["ServiceBus"]) as bus:
            assert bus.fully_qualified_namespace.startswith("127.0.0.1")
        async with aiohttp.ClientSession(urls["Admin"]) as admin:
            async with admin.get("/health") as answer:
                assert await answer.json() == {"status": "healthy"}
            async with admin.get("/events?name=create") as answer:
                assert [event["key"] for event in (await answer.json())["events"]] == ["a"]
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_one_file_starts_one_emulator_and_an_interrupt_is_a_clean_stop(
    tmp_path: Path,
) -> None:
    cosmos = _file(tmp_path, "cosmos.json", COSMOS)
    async with _started("--cosmos", cosmos, *FREE_PORTS) as process:
        urls = await _announced(process, 2)
        assert urls.keys() == {"Cosmos", "Admin"}
        for_the_other = {"service": "servicebus", "action": {"kind": "drop", "applied": True}}
        async with (
            aiohttp.ClientSession(urls["Admin"]) as admin,
            admin.post("/faults", json=for_the_other) as answer,
        ):
            assert answer.status == 400
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert (process.returncode, errors) == (0, b"")


async def test_without_a_file_there_is_nothing_to_start() -> None:
    code, errors = await _ended()
    assert code == 2
    assert "give --service-bus, --cosmos or both" in errors


async def test_a_taken_port_is_named_with_the_option_that_changes_it(tmp_path: Path) -> None:
    cosmos = _file(tmp_path, "cosmos.json", COSMOS)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, errors = await _ended("--cosmos", cosmos, f"--cosmos-port={port}", "--admin-port=0")
    assert code == 2
    assert errors == f"local-azure: port {port} is taken; choose another one with --cosmos-port\n"


async def test_a_file_that_cannot_be_used_is_named_with_its_problems(tmp_path: Path) -> None:
    broken = {
        "databases": [{"id": "shop", "containers": [CONTAINER | {"defaultTtl": 0}, CONTAINER]}]
    }
    path = _file(tmp_path, "cosmos.json", broken)
    code, errors = await _ended("--cosmos", path, *FREE_PORTS)
    assert code == 2
    assert path in errors
    assert "containers[0]" in errors
    missing = str(tmp_path / "missing.json")
    code, errors = await _ended("--service-bus", missing, *FREE_PORTS)
    assert (code, errors) == (2, f"local-azure: {missing}: No such file or directory\n")


async def test_listening_to_others_is_warned_of(tmp_path: Path) -> None:
    cosmos = _file(tmp_path, "cosmos.json", COSMOS)
    async with _started("--cosmos", cosmos, "--host=0.0.0.0", *FREE_PORTS) as process:
        assert "//localhost:" in (await _announced(process, 2))["Cosmos"]
        process.send_signal(signal.SIGTERM)
        _, errors = await process.communicate()
    assert b"warning" in errors


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
async def test_a_port_is_a_number_up_to_65535(port: str) -> None:
    code, errors = await _ended(f"--admin-port={port}")
    assert code == 2
    assert f"'{port}' is not a port" in errors
