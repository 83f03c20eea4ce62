"""Opening a container: what stands in the way is a fault, and goes once it is mended."""

from __future__ import annotations

import asyncio
import gc

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from azure.cosmos import PartitionKey
from azure.cosmos.aio import CosmosClient

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.consumer import Container
from idempotent_consumer.cosmos import CosmosAccount, CosmosStore
from local_azure.cosmos import EMULATOR_KEY, LocalCosmos
from tests.contract.store_contract import ORDERS


@pytest.fixture(autouse=True)
def patience_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK asks four times about an account before it gives up."""
    monkeypatch.setenv("AZURE_COSMOS_HEALTH_CHECK_RETRY_AFTER_MS", "1")


async def probe(account: CosmosAccount, container: Container = ORDERS) -> Fault | None:
    return await CosmosStore(account, container).probe()


async def test_a_missing_container_is_a_fault_until_it_exists(
    cosmos: LocalCosmos, account: CosmosAccount
) -> None:
    stock = Container("shop/stock", "/productId")
    fault = await probe(account, stock)
    assert fault is not None
    assert (fault.kind, fault.cause) == (FaultKind.MISCONFIGURED, "404/1003")
    assert "there is no container shop/stock" in fault.advice
    async with CosmosClient(cosmos.endpoint, cosmos.key) as client:
        await client.get_database_client("shop").create_container(
            "stock", PartitionKey("/productId")
        )
    assert await probe(account, stock) is None


async def test_a_container_that_is_partitioned_otherwise_is_a_fault(
    account: CosmosAccount,
) -> None:
    fault = await probe(account, Container(ORDERS.path, "/customerId"))
    assert fault is not None
    assert (fault.kind, fault.cause) == (FaultKind.MISCONFIGURED, "400/1001")
    assert "/customerId" in fault.advice


async def test_a_wrong_key_is_a_fault(cosmos: LocalCosmos) -> None:
    account = CosmosAccount(cosmos.endpoint, f"AAAA{cosmos.key[4:]}")
    fault = await probe(account)
    assert fault is not None
    assert (fault.kind, fault.cause) == (FaultKind.MISCONFIGURED, "401")
    await account.close()


async def test_an_account_out_of_reach_is_a_fault() -> None:
    async with LocalCosmos() as gone:
        account = CosmosAccount(gone.endpoint, gone.key)
    assert await probe(account) == Fault(kind=FaultKind.UNAVAILABLE, cause="connection")


async def test_a_proxy_of_the_environment_is_used(
    account: CosmosAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    assert await probe(account) == Fault(kind=FaultKind.UNAVAILABLE, cause="connection")


async def test_a_write_asks_for_no_document_back(account: CosmosAccount) -> None:
    opened = await account.open(ORDERS)
    assert await opened.proxy.create_item({"id": "ord-1001", "orderId": "ord-1001"}) == {}


async def test_a_closed_account_opens_again(account: CosmosAccount) -> None:
    assert await probe(account) is None
    await account.close()
    assert await probe(account) is None


@pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning")
async def test_each_event_loop_has_its_own_client(account: CosmosAccount) -> None:
    assert await asyncio.to_thread(asyncio.run, probe(account)) is None
    assert await probe(account) is None
    gc.collect()  # so that the client of the loop that ended is reported here


@pytest.mark.case("AMB-13")
async def test_an_account_with_several_write_regions_is_a_fault() -> None:
    """Two of them would both create one document, and Cosmos DB later keep one of the two."""
    region = {"name": "here", "databaseAccountEndpoint": "http://127.0.0.1/"}
    shown = {
        "id": "contoso",
        "writableLocations": [region],
        "readableLocations": [region],
        "enableMultipleWriteLocations": True,
        "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
    }

    async def show(request: web.Request) -> web.Response:
        region["databaseAccountEndpoint"] = str(request.url)
        return web.json_response(shown)

    application = web.Application()
    application.router.add_get("/", show)
    async with TestServer(application) as server:
        account = CosmosAccount(str(server.make_url("/")), EMULATOR_KEY)
        fault = await probe(account)
        await account.close()
    assert fault is not None
    assert (fault.kind, fault.cause) == (FaultKind.MISCONFIGURED, "several write regions")
    assert "--enable-multiple-write-locations false" in fault.advice
