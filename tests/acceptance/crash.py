"""A thousand orders while the workers are killed: ``python -m tests.acceptance.crash``.

Two workers consume; now and then one of them gets SIGKILL, and another takes its place. A
fifth of the orders is sent again, a twentieth with a changed payload. At the end each order
is stored once, of each changed pair one content is stored and the other is in the
dead-letter queue, and the queue is empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from asyncio.subprocess import DEVNULL
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from azure.servicebus import ServiceBusMessage

from tests.acceptance.shop import LOCK, WINDOW, open_shop, order, until

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from tests.acceptance.shop import Shop

ROUNDS = 12
"""In each of them, one worker is killed."""
CHANGED = "changed"
"""The customer of an order that was sent with a changed payload."""


@dataclass(frozen=True)
class Load:
    """What is sent: by round, which ids anew, again, and again with a changed payload."""

    new: list[list[str]]
    again: list[list[str]]
    changed: list[list[str]]

    @classmethod
    def drawn(cls, orders: int, chance: random.Random) -> Load:
        """Every order is sent anew in one round; again, if at all, in a later one."""
        ids = [f"ord-{number:05}" for number in range(orders)]
        first = {one: number * (ROUNDS - 1) // orders for number, one in enumerate(ids)}
        second = {one: chance.randint(first[one] + 1, ROUNDS - 1) for one in ids}
        picked = chance.sample(ids, orders // 4)
        return cls(
            new=_by_round(ids, first),
            again=_by_round(picked[orders // 20 :], second),
            changed=_by_round(picked[: orders // 20], second),
        )


def _by_round(ids: list[str], rounds: dict[str, int]) -> list[list[str]]:
    return [[one for one in ids if rounds[one] == number] for number in range(ROUNDS)]


@dataclass
class Workers:
    """Two worker processes; whoever is killed is replaced."""

    shop: Shop
    stack: AsyncExitStack
    chance: random.Random
    running: list[Process] = field(default_factory=list)
    kills: int = 0

    async def start(self) -> None:
        self.running.append(await self.stack.enter_async_context(self.shop.worker_process(DEVNULL)))

    async def kill_one(self) -> None:
        """SIGKILL, in the middle of whatever it does."""
        victim = self.running.pop(self.chance.randrange(len(self.running)))
        victim.kill()
        await victim.wait()
        self.kills += 1
        await self.start()


async def run(orders: int, seed: int) -> int:
    """Runs it, prints the figures, and answers with an exit code."""
    chance = random.Random(seed)  # noqa: S311  # nothing is to be kept secret
    load, began = Load.drawn(orders, chance), time.monotonic()
    async with open_shop() as shop, AsyncExitStack() as stack:
        workers = Workers(shop, stack, chance)
        await workers.start()
        await workers.start()
        for number in range(ROUNDS):
            await _play_round(number, load, shop, workers)
        await _drained(shop)
        problems = await _problems(load, shop)
        figures = _figures(load, shop, workers) | {
            "seed": seed,
            "seconds": round(time.monotonic() - began, 1),
            "problems": len(problems),
        }
    for name, figure in figures.items():
        print(f"{name:<24}{figure}")  # noqa: T201  # the report
    for problem in problems[:20]:
        print(f"WRONG: {problem}")  # noqa: T201
    return 1 if problems else 0


async def _play_round(number: int, load: Load, shop: Shop, workers: Workers) -> None:
    await _send(shop, [order(one) for one in load.new[number]])
    await _send(shop, [order(one) for one in load.again[number]])
    await _send(shop, [order(one, customerId=CHANGED) for one in load.changed[number]])
    completed = len(shop.bus.events.of("completed"))
    await until(
        lambda: (
            len(shop.bus.events.of("completed")) > completed + workers.chance.randrange(40)
            or not shop.bus.queue("orders").active_count
        )
    )
    await workers.kill_one()
    shop.bus.clock.advance(max(LOCK, WINDOW))


async def _send(shop: Shop, orders: list[dict[str, Any]]) -> None:
    for body in orders:
        message = ServiceBusMessage(json.dumps(body), message_id=body["orderId"])
        await shop.sender.send_messages(message)


async def _drained(shop: Shop) -> None:
    queue = shop.bus.queue("orders")
    for _ in range(20):
        try:
            await until(lambda: not queue.active_count and not queue.locked_count, seconds=5)
        except TimeoutError:
            shop.bus.clock.advance(LOCK)
        else:
            return
    raise TimeoutError(f"{queue.active_count + queue.locked_count} messages are left")


async def _problems(load: Load, shop: Shop) -> list[str]:
    stored = Counter(document["orderId"] for document in shop.documents("order"))
    lines = Counter(document["orderId"] for document in shop.documents("orderLine"))
    once = dict.fromkeys((order_id for ids in load.new for order_id in ids), 1)
    found = [f"{one} is stored {stored[one]} times" for one in once if stored[one] != 1]
    found += [f"{one} has {lines[one]} lines" for one in once if lines[one] != 1]
    found += [f"{one} was never sent" for one in stored if one not in once]
    return found + await _wrong_letters(load, shop)


async def _wrong_letters(load: Load, shop: Shop) -> list[str]:
    customers = {document["id"]: document["customerId"] for document in shop.documents("order")}
    expected = {one for ids in load.changed for one in ids}
    letters = []
    while received := await shop.dead_letters():
        letters += received
    found = [f"{one} is in the dead-letter queue" for one in _ids(letters) if one not in expected]
    found += [f"{one} changed, unheard" for one in expected - set(_ids(letters))]
    found += [f"{one} is there twice" for one, times in Counter(_ids(letters)).items() if times > 1]
    for letter in letters:
        body = json.loads(str(letter))
        if letter.dead_letter_reason != "RequestHashMismatch":
            found.append(f"{letter.message_id} is there as {letter.dead_letter_reason}")
        if body["customerId"] == customers.get(body["orderId"]):
            found.append(f"{letter.message_id} is both stored and dead")
    return found


def _ids(letters: list[Any]) -> list[str]:
    return [letter.message_id for letter in letters]


def _figures(load: Load, shop: Shop, workers: Workers) -> dict[str, object]:
    events = Counter(event.name for event in shop.bus.events)
    calls = Counter(event.name for event in shop.cosmos.events)
    return {
        "orders": sum(map(len, load.new)),
        "sent again": sum(map(len, load.again)),
        "sent with a change": sum(map(len, load.changed)),
        "kills": workers.kills,
        "sends": events["sent"],
        "dropped by the broker": events["duplicate_dropped"],
        "deliveries": events["delivered"],
        "locks lapsed": events["lock_expired"],
        "completed": events["completed"],
        "dead-lettered": events["dead_lettered"],
        "store: batches": calls["batch"],
        "store: reads": calls["read"],
        "orders stored": len(shop.documents("order")),
    }


def main() -> int:
    """Reads the arguments and runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--orders", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311
    options = parser.parse_args()
    return asyncio.run(run(options.orders, options.seed))


if __name__ == "__main__":
    sys.exit(main())
