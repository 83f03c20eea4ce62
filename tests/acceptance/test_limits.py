"""What `docs/limits.md` admits, shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from azure.cosmos.aio import CosmosClient

from tests.acceptance.shop import order

if TYPE_CHECKING:
    from tests.acceptance.shop import Shop


async def test_a_changed_payload_inside_the_window_is_dropped_unheard(shop: Shop) -> None:
    async with shop.worker():
        await shop.send(order())
        await shop.send(order(customerId="somebody else"))
        await shop.completed()
    assert shop.happened("duplicate_dropped") == 1
    assert await shop.dead_letters() == []
    assert [stored["customerId"] for stored in shop.documents("order")] == ["cust-77"]


@pytest.mark.case("CON-07")
async def test_a_deleted_order_is_created_again_by_a_late_copy(shop: Shop) -> None:
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
        async with CosmosClient(shop.cosmos.endpoint, shop.cosmos.key) as client:
            container = client.get_database_client("shop").get_container_client("orders")
            for document in shop.documents():
                await container.delete_item(document["id"], partition_key="ord-1001")
        await shop.send_again(order())
        await shop.completed(2)
    assert len(shop.documents("order")) == 1
