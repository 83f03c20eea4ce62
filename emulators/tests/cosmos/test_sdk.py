"""What the unmodified SDK makes of the emulator, over real sockets."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import CosmosClient as SyncCosmosClient
from azure.cosmos import PartitionKey
from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosBatchOperationError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from local_azure.clock import Clock
from local_azure.cosmos import ContainerProperties, LocalCosmos

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy

ORDER = {"id": "a", "orderId": "1", "total": 5}


async def test_a_document_is_created_read_replaced_upserted_and_deleted(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    created = await orders.create_item(ORDER)
    assert await orders.read_item("a", "1") == created
    replaced = await orders.replace_item("a", ORDER | {"total": 6})
    assert (await orders.upsert_item(ORDER | {"total": 7}))["_rid"] == replaced["_rid"]
    assert [found["total"] for found in cosmos.documents("shop/orders")[1:]] == [7]
    await orders.delete_item("a", "1")
    assert len(cosmos.documents("shop/orders")) == 1


async def test_errors_arrive_as_the_exceptions_that_the_sdk_has_for_them(
    orders: ContainerProxy,
) -> None:
    created = await orders.create_item(ORDER)
    with pytest.raises(CosmosResourceExistsError):
        await orders.create_item(ORDER)
    with pytest.raises(CosmosResourceNotFoundError):
        await orders.read_item("nope", "1")
    stale: dict[str, Any] = {"etag": '"stale"', "match_condition": MatchConditions.IfNotModified}
    with pytest.raises(CosmosAccessConditionFailedError):
        await orders.replace_item("a", ORDER, **stale)
    with pytest.raises(CosmosAccessConditionFailedError):
        await orders.delete_item("a", "1", **stale)
    stale["etag"] = created["_etag"]
    assert (await orders.replace_item("a", ORDER, **stale))["_etag"] != created["_etag"]


async def test_documents_given_in_place_of_ids_are_found_by_their_links(
    orders: ContainerProxy,
) -> None:
    created = await orders.create_item(ORDER)
    assert await orders.read_item(created, "1") == created
    await orders.delete_item(created, "1")
    with pytest.raises(CosmosResourceNotFoundError):
        await orders.read_item("a", "1")


@pytest.mark.parametrize("document_id", ["%2F", "%d5", "a b", "😀", "é", "a:b@'\"+&=", "x" * 1023])
async def test_ids_round_trip(orders: ContainerProxy, document_id: str) -> None:
    await orders.create_item({"id": document_id, "orderId": "1"})
    assert (await orders.read_item(document_id, "1"))["id"] == document_id


@pytest.mark.parametrize("document_id", [".", ".."])
async def test_dots_that_the_client_normalises_away_reach_nothing(
    cosmos: LocalCosmos, orders: ContainerProxy, document_id: str
) -> None:
    await orders.create_item({"id": document_id, "orderId": "1"})
    with pytest.raises(CosmosHttpResponseError) as refused:
        await orders.delete_item(document_id, "1")
    assert refused.value.status_code == 401
    assert len(cosmos.documents("shop/orders")) == 2


async def test_databases_and_containers_are_managed(client: CosmosClient) -> None:
    database = await client.create_database("new")
    container = await database.create_container(
        "k",
        PartitionKey("/pk"),
        default_ttl=60,
        indexing_policy={"indexingMode": "consistent"},
    )
    assert (await container.read())["defaultTtl"] == 60
    assert [found["id"] async for found in client.list_databases()] == ["shop", "new"]
    assert [found["id"] async for found in database.list_containers()] == ["k"]
    await database.replace_container("k", PartitionKey("/pk"), default_ttl=5)
    assert (await container.read())["defaultTtl"] == 5
    await database.create_container_if_not_exists("k", PartitionKey("/pk"))
    await database.delete_container("k")
    await client.delete_database("new")
    with pytest.raises(CosmosResourceNotFoundError):
        await database.read()


async def test_a_container_created_anew_is_found_through_an_old_proxy(
    client: CosmosClient, orders: ContainerProxy
) -> None:
    database = client.get_database_client("shop")
    await database.delete_container("orders")
    await database.create_container("orders", PartitionKey("/orderId"))
    await orders.create_item(ORDER)
    assert (await orders.read_item("a", "1"))["total"] == 5


async def test_a_batch_takes_effect_as_a_whole(cosmos: LocalCosmos, orders: ContainerProxy) -> None:
    etag = (await orders.create_item(ORDER))["_etag"]
    outcomes = await orders.execute_item_batch(
        [
            ("create", ({"id": "b", "orderId": "1"},)),
            ("read", ("a",)),
            ("replace", ("a", ORDER | {"total": 6}), {"if_match_etag": etag}),
            ("upsert", ({"id": "c", "orderId": "1"},)),
            ("delete", ("b",)),
        ],
        "1",
    )
    assert [outcome["statusCode"] for outcome in outcomes] == [201, 200, 200, 201, 204]
    assert {found["id"] for found in cosmos.documents("shop/orders")} == {"first", "a", "c"}


async def test_a_failed_batch_raises_with_the_code_of_the_culprit(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    await orders.create_item(ORDER)
    with pytest.raises(CosmosBatchOperationError) as failed:
        await orders.execute_item_batch(
            [
                ("create", ({"id": "b", "orderId": "1"},)),
                ("replace", ("a", ORDER), {"if_match_etag": '"stale"'}),
                ("delete", ("a",)),
            ],
            "1",
        )
    assert (failed.value.status_code, failed.value.error_index) == (412, 1)
    outcomes = failed.value.operation_responses
    assert outcomes is not None
    assert [outcome["statusCode"] for outcome in outcomes] == [424, 412, 424]
    assert len(cosmos.documents("shop/orders")) == 2


async def test_of_concurrent_batches_on_one_id_exactly_one_wins(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    async def attempt(key: str, number: int) -> int:
        order = {"id": f"order-{key}", "orderId": key, "attempt": number}
        line = {"id": f"line-{key}-{number}", "orderId": key, "attempt": number}
        try:
            await orders.execute_item_batch([("create", (line,)), ("create", (order,))], key)
        except CosmosBatchOperationError as error:
            return error.status_code or 0
        return 201

    attempts = [attempt(f"k{number % 10}", number) for number in range(200)]
    statuses = Counter(await asyncio.gather(*attempts))
    assert statuses == {201: 10, 409: 190}
    stored = [found for found in cosmos.documents("shop/orders") if "attempt" in found]
    by_key = Counter((found["orderId"], found["attempt"]) for found in stored)
    assert sorted(by_key.values()) == [2] * 10


async def test_documents_expire_by_the_clock() -> None:
    clock = Clock()
    short_lived = ContainerProperties(
        database="shop", id="orders", partition_key_paths=("/orderId",), default_ttl=60
    )
    async with (
        LocalCosmos([short_lived], clock=clock) as cosmos,
        CosmosClient.from_connection_string(cosmos.connection_string) as client,
    ):
        orders = client.get_database_client("shop").get_container_client("orders")
        await orders.create_item(ORDER)
        clock.advance(60)
        with pytest.raises(CosmosResourceNotFoundError):
            await orders.read_item("a", "1")
        await orders.create_item(ORDER)


async def test_a_wrong_key_is_unauthorized(cosmos: LocalCosmos) -> None:
    client = CosmosClient(cosmos.endpoint, "d3Jvbmc=")
    with pytest.raises(CosmosHttpResponseError) as refused:
        await client.__aenter__()
    await client.close()
    assert refused.value.status_code == 401


async def test_every_request_on_the_wire_is_one_event(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.events.clear()
    await orders.create_item(ORDER)
    with pytest.raises(CosmosResourceExistsError):
        await orders.create_item(ORDER)
    await orders.execute_item_batch([("upsert", (ORDER,)), ("read", ("a",))], "1")
    await orders.read_item("a", "1")
    logged = [(event.name, event.entity, event.key, event.detail) for event in cosmos.events]
    assert logged == [
        ("create", "shop/orders", "a", "201"),
        ("create", "shop/orders", "a", "409"),
        ("batch", "shop/orders", "a", "200"),
        ("read", "shop/orders", "a", "200"),
    ]


async def test_the_sync_client_works_alike(cosmos: LocalCosmos) -> None:
    def use() -> list[int]:
        with SyncCosmosClient.from_connection_string(cosmos.connection_string) as client:
            orders = client.get_database_client("shop").get_container_client("orders")
            created = orders.create_item(ORDER)
            assert orders.read_item("a", "1") == created
            with pytest.raises(CosmosResourceExistsError):
                orders.create_item(ORDER)
            outcomes = orders.execute_item_batch([("delete", ("a",))], "1")
            return [outcome["statusCode"] for outcome in outcomes]

    assert await asyncio.to_thread(use) == [204]
