"""An emulated Cosmos DB account with one empty container, and the store on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.cosmos import CosmosAccount, CosmosStore
from local_azure.cosmos import LocalCosmos
from tests.contract.store_contract import ORDERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def cosmos() -> AsyncIterator[LocalCosmos]:
    async with LocalCosmos({ORDERS.path: ORDERS.partition_path}) as cosmos:
        yield cosmos


@pytest.fixture
async def account(cosmos: LocalCosmos) -> AsyncIterator[CosmosAccount]:
    account = CosmosAccount(cosmos.endpoint, cosmos.key)
    yield account
    await account.close()


@pytest.fixture
async def store(account: CosmosAccount) -> CosmosStore:
    return CosmosStore(account, ORDERS, pauses=(0, 0))
