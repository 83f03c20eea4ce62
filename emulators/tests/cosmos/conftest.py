from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from azure.cosmos.aio import CosmosClient

from emulators.tests.cosmos.account import Account, new_account
from local_azure.cosmos import LocalCosmos

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.cosmos.aio import ContainerProxy


@pytest.fixture
def account() -> Account:
    return new_account()


@pytest.fixture
async def cosmos() -> AsyncIterator[LocalCosmos]:
    async with LocalCosmos({"shop/orders": "/orderId"}) as running:
        yield running


@pytest.fixture
async def client(cosmos: LocalCosmos) -> AsyncIterator[CosmosClient]:
    async with CosmosClient.from_connection_string(cosmos.connection_string) as connected:
        yield connected


@pytest.fixture
async def orders(client: CosmosClient) -> ContainerProxy:
    """The container, with the SDK's caches filled, so that only item requests follow."""
    container = client.get_database_client("shop").get_container_client("orders")
    await container.create_item({"id": "first", "orderId": "first"})
    await container.read_item("first", "first")
    return container
