"""The command ``local-azure``: the emulators and their admin endpoint in one process."""

from __future__ import annotations

import argparse
import asyncio
import errno
import ipaddress
import signal
import sys
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from local_azure.admin import AdminEndpoint
from local_azure.clock import Clock
from local_azure.cosmos import LocalCosmos, load_containers
from local_azure.events import EventLog
from local_azure.servicebus import Config, LocalServiceBus
from local_azure.servicebus.administration import Administration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from aiohttp import web

    from local_azure.faults import Faults

_CANNOT_START: Final = 2
_Content = TypeVar("_Content")


class StartError(Exception):
    """The command cannot start; the text says why and what to change."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the emulators until SIGINT or SIGTERM; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.service_bus is None and options.cosmos is None:
        parser.error("nothing to start: give --service-bus, --cosmos or both")
    try:
        asyncio.run(_run(options))
    except StartError as error:
        sys.stderr.write(f"local-azure: {error}\n")
        return _CANNOT_START
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="local-azure",
        description="Runs emulators of Azure Service Bus and Azure Cosmos DB on this machine.",
    )
    add = parser.add_argument
    add(
        "--service-bus",
        type=Path,
        metavar="CONFIG.JSON",
        help="start Service Bus with these entities, in the official emulator's format",
    )
    add(
        "--cosmos",
        type=Path,
        metavar="COSMOS.JSON",
        help="start Cosmos DB with these databases and containers",
    )
    add("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    port_help = "port, 0 for a free one (%(default)s)"
    add("--service-bus-port", type=_port, default=5672, metavar="PORT", help=port_help)
    add("--admin-port", type=_port, default=5300, metavar="PORT", help=port_help)
    add("--cosmos-port", type=_port, default=8081, metavar="PORT", help=port_help)
    add("--cosmos-tls", action="store_true", help="listen for https; needs local-azure[tls]")
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return int(text)


async def _run(options: argparse.Namespace) -> None:
    stop = _stop_on_signals()
    if not _is_loopback(options.host):
        sys.stderr.write(
            f"local-azure: warning: listening on {options.host}; whoever reaches this machine "
            "can use the emulators, for their keys are public\n"
        )
    async with AsyncExitStack() as stack:
        for line in await _started(options, stack):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        await stop.wait()


def _stop_on_signals() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set; Windows knows no handlers of a loop's own."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    return stop


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _started(options: argparse.Namespace, stack: AsyncExitStack) -> list[str]:
    """Starts what the options ask for; returns the lines that tell how to reach it."""
    lines: list[str] = []
    management: list[web.RouteDef] = []
    faults: dict[str, Faults] = {}
    shared: dict[str, Any] = {"host": options.host, "clock": Clock(), "events": EventLog()}
    listen = partial(_listening, stack, options)
    if options.service_bus is not None:
        config = _content(options.service_bus, Config.load)
        port = options.service_bus_port
        bus = LocalServiceBus(config, port=port, **shared)
        await listen(bus, "--service-bus-port", port)
        faults["servicebus"] = bus.faults
        lines.append(f"ServiceBus={bus.connection_string}")
        management = Administration(bus.entities, bus.key).routes()
    if options.cosmos is not None:
        containers = _content(options.cosmos, load_containers)
        port = options.cosmos_port
        cosmos = LocalCosmos(containers, port=port, tls=options.cosmos_tls, **shared)
        await listen(cosmos, "--cosmos-port", port)
        faults["cosmos"] = cosmos.faults
        lines.append(f"Cosmos={cosmos.connection_string}")
    admin = AdminEndpoint(faults=faults, port=options.admin_port, management=management, **shared)
    await listen(admin, "--admin-port", options.admin_port)
    return [*lines, f"Admin={admin.url}"]


def _content(path: Path, load: Callable[[Path], _Content]) -> _Content:
    try:
        return load(path)
    except OSError as error:
        raise StartError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        problems = str(error).replace("\n", "\n  ")
        raise StartError(f"{path} cannot be used:\n  {problems}") from error


async def _listening(
    stack: AsyncExitStack,
    options: argparse.Namespace,
    listener: AbstractAsyncContextManager[object],
    option: str,
    port: int,
) -> None:
    """Listens until the stack unwinds; a taken port is named with the option that sets it."""
    try:
        await stack.enter_async_context(listener)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            text = f"port {port} is taken; choose another one with {option}"
        else:
            text = f"cannot listen on {options.host}:{port}: {error.strerror}"
        raise StartError(text) from error


if __name__ == "__main__":
    sys.exit(main())
