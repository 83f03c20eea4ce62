"""Two hundred messages through the function app, sixteen at a time, while workers are killed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

pytest.importorskip(
    "azure_functions_runtime",
    reason="azure-functions-runtime is not installed (Python 3.13 only): make functions-test",
)

from local_azure.faults import Delay, Drop, Fail
from tests.acceptance.shop import LOCK, WINDOW, open_shop, order, until
from tests.hosts.functions.listener import CONCURRENCY, functions_at_work

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage

    from tests.acceptance.shop import Shop
    from tests.hosts.functions.listener import Listener

IDS = [f"ord-{number:03}" for number in range(120)]
SAME, CHANGED = IDS[:30], IDS[30:50]
BAD: dict[str, list[tuple[object, str]]] = {
    "MalformedBody": [(b"\xff\xfe{}", f"bad-{number}") for number in range(12)],
    "MissingMessageId": [(order(), " " * number) for number in range(1, 11)],
    "InvalidMessageId": [(order(), "None"), (order(), "00000000-0000-0000-0000-000000000000")],
    "KeyDisagrees": [(order(), f"other-{number}") for number in range(6)],
}
KILLS = 3


async def test_two_hundred_messages_take_effect_once_each() -> None:
    async with open_shop() as shop, functions_at_work(shop) as functions:
        trouble(shop)
        await send_new(shop)
        for kill in range(KILLS):
            await killed_in_mid_invocation(shop, functions, after=20 * (kill + 1))
        await drained(shop)
        shop.bus.clock.advance(WINDOW)
        await send_copies(shop)
        await drained(shop)
        assert functions.peak == CONCURRENCY
        assert functions.host.log
        await check(shop)


def trouble(shop: Shop) -> None:
    """Answers of the store get lost, and so do locks."""
    shop.cosmos.faults.add(Drop(applied=True), operation="batch", skip=5, times=10)
    lost = Fail(code="com.microsoft:message-lock-lost")
    shop.bus.faults.add(lost, operation="complete", skip=10, times=10)


async def send_new(shop: Shop) -> None:
    bad = [message for messages in BAD.values() for message in messages]
    for number, one in enumerate(IDS):
        await shop.send(order(one), one)
        if number < len(bad):
            await shop.send(*bad[number])


async def send_copies(shop: Shop) -> None:
    for one in SAME:
        await shop.send(order(one), one)
    for one in CHANGED:
        await shop.send(order(one, customerId="changed"), one)


async def killed_in_mid_invocation(shop: Shop, functions: Listener, *, after: int) -> None:
    """Kills the worker while the store has the commits of many messages in its hands."""
    await until(lambda: len(shop.bus.events.of("completed")) >= after, seconds=30)
    slow = shop.cosmos.faults.add(Delay(seconds=1), operation="batch", times=None)
    await until(lambda: slow.hits >= 8)
    shop.cosmos.faults.remove(slow)
    await functions.host.kill_worker()
    await functions.host.start_worker()


async def drained(shop: Shop) -> None:
    """Returns once the queue is empty; locks that nobody holds any more lapse by the clock."""
    queue = shop.bus.queue("orders")
    for _ in range(10):
        try:
            await until(lambda: not (queue.active_count or queue.locked_count), seconds=4)
        except TimeoutError:
            shop.bus.clock.advance(LOCK)
        else:
            return
    raise TimeoutError(f"{queue.active_count + queue.locked_count} messages are left")


async def check(shop: Shop) -> None:
    assert shop.bus.events.of("duplicate_dropped") == []
    assert len(shop.bus.events.of("sent")) == 200
    for kind in ("order", "orderLine"):
        assert Counter(each["orderId"] for each in shop.documents(kind)) == dict.fromkeys(IDS, 1)
    assert {each["customerId"] for each in shop.documents("order")} == {"cust-77"}
    assert len(shop.bus.events.of("completed")) == len(IDS) + len(SAME)
    letters = await all_dead_letters(shop)
    mismatches = {"RequestHashMismatch": len(CHANGED)}
    expected = {reason: len(messages) for reason, messages in BAD.items()} | mismatches
    assert Counter(letter.dead_letter_reason for letter in letters) == expected


async def all_dead_letters(shop: Shop) -> list[ServiceBusReceivedMessage]:
    letters: list[ServiceBusReceivedMessage] = []
    while received := await shop.dead_letters():
        letters += received
    return letters
