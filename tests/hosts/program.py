"""A worker process, for tests: ``program.py CONNECTION_STRING BEHAVIOUR``."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any

from idempotent_consumer import Consumer, Container, Create, Entity
from idempotent_consumer.core.profile import Profile
from idempotent_consumer.engine.circuit import Circuit
from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.engine.engine import Engine
from idempotent_consumer.servicebus.client import client_from_connection_string
from idempotent_consumer.servicebus.receiver import QueueReceiver
from idempotent_consumer.testing import MemoryStore
from idempotent_consumer.worker.host import host
from idempotent_consumer.worker.worker import QueueWorker
from tests.hosts.emulated import QUEUE, Recorder

if TYPE_CHECKING:
    from idempotent_consumer import Message, Writes

LIMIT = 1.0


def is_poison(message: Message) -> bool:
    return message.key == "poison"


def place(order: dict[str, Any]) -> Writes:
    return [Create(order)]


def block(order: dict[str, Any]) -> Writes:
    time.sleep(60)
    return place(order)


def match_for_ever(order: dict[str, Any]) -> Writes:
    re.match("(a+)+$", "a" * 40 + "b")
    return place(order)


def die(order: dict[str, Any]) -> Writes:
    os._exit(9)


BEHAVIOURS = {"place": place, "block": block, "match": match_for_ever, "die": die}

orders = Consumer("order-processor", Container("shop/orders", "/orderId"), marker=Entity())


@orders.handler(dict)
def handle(order: dict[str, Any], message: Message) -> Writes:
    behaviour = BEHAVIOURS[sys.argv[2]] if is_poison(message) else place
    return behaviour(order)


async def main() -> None:
    store, clock, telemetry = MemoryStore(), SystemClock(), Recorder()
    engine = Engine(
        orders,
        store,
        Circuit(store.probe, container="shop/orders", clock=clock, telemetry=telemetry),
        profile=Profile(),
        clock=clock,
        telemetry=telemetry,
        chance=lambda: 0.0,
        new_token=lambda: os.urandom(8).hex(),
    )
    async with client_from_connection_string(sys.argv[1]) as client:
        worker = QueueWorker(
            engine,
            QueueReceiver(client, QUEUE),
            profile=Profile(),
            clock=clock,
            telemetry=telemetry,
            chance=lambda: 0.0,
        )
        await host(worker, blocked_limit=LIMIT)


if __name__ == "__main__":
    asyncio.run(main())
