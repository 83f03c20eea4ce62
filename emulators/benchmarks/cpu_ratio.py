"""``python -m emulators.benchmarks.cpu_ratio``: the emulators' CPU time beside their clients'.

Each operation is done a number of times, one after the other, by the unmodified SDK against
an emulator in another process. A ratio below one means that tests wait for the client.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import TYPE_CHECKING, Final

from azure.cosmos.aio import CosmosClient
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient

from emulators.benchmarks.emulated import Used, cosmos, emulated, say, service_bus

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from azure.cosmos.aio import ContainerProxy
    from azure.servicebus.aio import ServiceBusReceiver

    Operation = Callable[[ContainerProxy, int], Awaitable[Any]]

_PADDING: Final = "x" * 900
"""Makes documents and messages of about a kilobyte."""


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
    times = parser.parse_args().times
    say(f"{'':22}{'client':>10}{'emulator':>10}{'ratio':>7}")
    asyncio.run(_measure_cosmos(times))
    asyncio.run(_measure_service_bus(times))


async def _measure_cosmos(times: int) -> None:
    with emulated(cosmos) as (connection_string, used):
        async with CosmosClient.from_connection_string(connection_string) as client:
            orders = client.get_database_client("shop").get_container_client("orders")
            await orders.create_item(_document(-1))
            for name, operation in _OPERATIONS.items():
                with _measured(name, times, used):
                    for number in range(times):
                        await operation(orders, number)


async def _measure_service_bus(times: int) -> None:
    with emulated(service_bus) as (connection_string, used):
        async with (
            ServiceBusClient.from_connection_string(connection_string) as client,
            client.get_queue_sender("orders") as sender,
            client.get_queue_receiver("orders", prefetch_count=0) as receiver,
        ):
            with _measured("send", times, used):
                for number in range(times):
                    await sender.send_messages(ServiceBusMessage(_PADDING, message_id=str(number)))
            for name in ("abandon", "complete", "dead-letter"):
                with _measured(f"receive and {name}", times // 3, used):
                    await _settle(receiver, name, times // 3)


async def _settle(receiver: ServiceBusReceiver, name: str, times: int) -> None:
    for _ in range(times):
        (message,) = await receiver.receive_messages(1, max_wait_time=5)
        match name:
            case "abandon":
                await receiver.abandon_message(message)
            case "complete":
                await receiver.complete_message(message)
            case _:
                await receiver.dead_letter_message(message, reason="Measured")


class _measured:  # noqa: N801  # reads as a statement
    """Says how much CPU time both took within the context, an operation."""

    def __init__(self, name: str, times: int, used: Callable[[], Used]) -> None:
        self._name = name
        self._times = times
        self._used = used

    def __enter__(self) -> None:
        self._client, self._emulator = time.process_time(), self._used().seconds

    def __exit__(self, *_: object) -> None:
        client = (time.process_time() - self._client) * 1e6 / self._times
        emulator = (self._used().seconds - self._emulator) * 1e6 / self._times
        say(f"{self._name:22}{client:7.0f} µs{emulator:7.0f} µs{emulator / client:7.2f}")


if __name__ == "__main__":
    main()
