"""What holds on either host: the worker and the function app, on the same queue and store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip(
    "azure_functions_runtime",
    reason="azure-functions-runtime is not installed (Python 3.13 only): make functions-test",
)

from local_azure.faults import Fail
from tests.acceptance.shop import LOCK, open_shop, order, until
from tests.hosts.functions.listener import functions_at_work

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from tests.acceptance.shop import Shop


@pytest.fixture(params=["worker", "functions"])
async def shop(request: pytest.FixtureRequest) -> AsyncIterator[Shop]:
    async with open_shop() as shop, at_work(request.param, shop):
        yield shop


def at_work(host: str, shop: Shop) -> AbstractAsyncContextManager[object]:
    return functions_at_work(shop) if host == "functions" else shop.worker()


async def test_an_order_is_applied_in_one_call(shop: Shop) -> None:
    await shop.send(order())
    await shop.completed()
    assert shop.store_calls() == ["batch"]
    assert len(shop.documents()) == 2


async def test_a_copy_sent_later_is_a_duplicate(shop: Shop) -> None:
    await shop.send(order())
    await shop.completed()
    await shop.send_again(order())
    await shop.completed(times=2)
    assert shop.store_calls() == ["batch", "batch", "read"]
    assert len(shop.documents()) == 2


async def test_other_content_under_a_known_id_is_heard_of(shop: Shop) -> None:
    await shop.send(order())
    await shop.completed()
    await shop.send_again(order(customerId="cust-78"))
    await shop.dead_lettered()
    (letter,) = await shop.dead_letters()
    assert letter.dead_letter_reason == "RequestHashMismatch"
    assert "customerId" in str(letter.dead_letter_error_description)


@pytest.mark.parametrize(
    ("body", "message_id", "reason"),
    [
        (b"\xff\xfe{}", "ord-1001", "MalformedBody"),
        (order(), " ", "MissingMessageId"),
        (order(), "ord-2", "KeyDisagrees"),
        (order(messageId="ord-2", MessageId="ord-2"), " ", "MissingMessageId"),
    ],
)
async def test_what_can_never_be_applied_is_dead_lettered_by_name(
    shop: Shop, body: object, message_id: str, reason: str
) -> None:
    await shop.send(body, message_id)
    await until(lambda: bool(shop.bus.events.of("dead_lettered")))
    (letter,) = await shop.dead_letters()
    assert letter.dead_letter_reason == reason
    assert letter.delivery_count == 0
    assert shop.documents() == []


async def test_a_lost_lock_is_made_good_by_the_redelivery(shop: Shop) -> None:
    lost = Fail(code="com.microsoft:message-lock-lost")
    fault = shop.bus.faults.add(lost, operation="complete")
    await shop.send(order())
    await until(lambda: fault.hits == 1)
    shop.bus.clock.advance(LOCK)
    await shop.completed()
    assert shop.happened("delivered") == 2
    assert len(shop.documents()) == 2


async def test_an_outage_of_the_store_costs_no_delivery(shop: Shop) -> None:
    outage = shop.cosmos.faults.add(Fail(code=503), times=None)
    for number in range(5):
        await shop.send(order(f"ord-{number}"), f"ord-{number}")
    await until(lambda: outage.hits > 10)
    shop.cosmos.faults.remove(outage)
    await until(lambda: len(shop.bus.events.of("completed")) == 5, seconds=40)
    assert len(shop.bus.events.of("delivered")) == 5
    assert len(shop.documents("order")) == 5
