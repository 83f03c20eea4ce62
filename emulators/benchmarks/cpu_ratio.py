"""``python -m emulators.benchmarks.cpu_ratio``: the emulator's CPU time beside its client's.

Each operation is done a number of times, one after the other, by the unmodified SDK against
an emulator in another process. A ratio below one means that tests wait for the client.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from azure.cosmos.aio import CosmosClient

from local_azure.background import BackgroundLoop
from local_azure.cosmos import LocalCosmos

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from multiprocessing.connection import Connection
    from typing import Any

    from azure.cosmos.aio import ContainerProxy

    Operation = Callable[[ContainerProxy, int], Awaitable[Any]]

_PADDING: Final = "x" * 900
"""Makes documents of about a kilobyte."""


def _document(number: int, kind: str = "order") -> dict[str, Any]:
    return {"id": f"{kind}-{number}", "orderId": str(number), "n": 0, "padding": _PADDING}


_OPERATIONS: Final[dict[str, Operation]] = {
    "create": lambda orders, n: orders.create_item(_document(n)),
    "read": lambda orders, n: orders.read_item(f"order-{n}", str(n)),
    "replace": lambda orders, n: orders.replace_item(f"order-{n}", _document(n)),
    "upsert": lambda orders, n: orders.upsert_item(_document(n)),
    "patch": lambda orders, n: orders.patch_item(
        f"order-{n}",
        str(n),
        [{"op": "incr", "path": "/n", "value": 1}],
        filter_predicate="FROM c WHERE c.n = 0",
    ),
    "batch of 2": lambda orders, n: orders.execute_item_batch(
        [("create", (_document(n, "line"),)), ("create", (_document(n, "event"),))], str(n)
    ),
    "delete": lambda orders, n: orders.delete_item(f"order-{n}", str(n)),
}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=500, help="each operation (%(default)s)")
    asyncio.run(_measure(parser.parse_args().times))


async def _measure(times: int) -> None:
    with _emulator() as (connection_string, cpu_time):
        async with CosmosClient.from_connection_string(connection_string) as client:
            orders = client.get_database_client("shop").get_container_client("orders")
            await orders.create_item(_document(-1))
            _say(f"{'':12}{'client':>10}{'emulator':>10}{'ratio':>7}")
            for name, operation in _OPERATIONS.items():
                await _measure_one(name, operation, orders, times, cpu_time)


async def _measure_one(
    name: str,
    operation: Operation,
    orders: ContainerProxy,
    times: int,
    cpu_time: Callable[[], float],
) -> None:
    client, emulator = time.process_time(), cpu_time()
    for number in range(times):
        await operation(orders, number)
    client, emulator = time.process_time() - client, cpu_time() - emulator
    micro = 1e6 / times
    _say(f"{name:12}{client * micro:7.0f} µs{emulator * micro:7.0f} µs{emulator / client:7.2f}")


@contextmanager
def _emulator() -> Iterator[tuple[str, Callable[[], float]]]:
    """An emulator in a process of its own: its address, and how much CPU time it has used."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,))
    process.start()

    def cpu_time() -> float:
        here.send(True)
        return float(here.recv())

    try:
        yield here.recv(), cpu_time
    finally:
        here.send(False)
        process.join()


def _serve(connection: Connection) -> None:
    """Runs the emulator, and tells its CPU time when asked, until told to stop."""
    with BackgroundLoop() as loop, loop.entered(LocalCosmos({"shop/orders": "/orderId"})) as cosmos:
        connection.send(cosmos.connection_string)
        while connection.recv():
            connection.send(time.process_time())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
