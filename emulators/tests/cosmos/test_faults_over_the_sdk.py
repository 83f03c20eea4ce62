"""What the SDK re-sends by itself when answers fail to come, and what its caller then sees."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ServiceRequestError, ServiceResponseError
from azure.cosmos import CosmosClient as SyncCosmosClient
from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosBatchOperationError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from local_azure.faults import Delay, Drop, Fail, Hang

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy

    from local_azure.cosmos import LocalCosmos

ORDER = {"id": "a", "orderId": "1"}


def _sent(cosmos: LocalCosmos, name: str) -> list[str | None]:
    """How each request of the operation was answered."""
    return [event.detail for event in cosmos.events.of(name, key="a")]


def _ids(cosmos: LocalCosmos) -> set[str]:
    return {found["id"] for found in cosmos.documents("shop/orders")}


async def test_a_create_cut_after_the_commit_meets_its_own_write(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Drop(applied=True), operation="create")
    with pytest.raises(CosmosResourceExistsError):
        await orders.create_item(ORDER)
    assert _sent(cosmos, "create") == ["dropped", "409"]


async def test_a_create_cut_before_the_commit_is_sent_again_unseen(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Drop(applied=False), operation="create")
    await orders.create_item(ORDER)
    assert _sent(cosmos, "create") == ["dropped", "201"]


async def test_a_create_cut_every_time_fails_after_four_attempts(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Drop(applied=True), operation="create", times=None)
    with pytest.raises(ServiceRequestError):
        await orders.create_item(ORDER)
    assert _sent(cosmos, "create") == ["dropped"] * 4
    assert "a" in _ids(cosmos)


async def test_a_batch_cut_after_the_commit_meets_its_own_writes(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Drop(applied=True), operation="batch", key="a")
    with pytest.raises(CosmosBatchOperationError) as failed:
        await orders.execute_item_batch(
            [("create", (ORDER,)), ("create", (ORDER | {"id": "b"},))], "1"
        )
    assert failed.value.status_code == 409
    assert _sent(cosmos, "batch") == ["dropped", "207"]
    assert _ids(cosmos) == {"first", "a", "b"}


async def test_one_operation_of_a_batch_fails_on_order(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Fail(code=449), operation="batch_create", key="b")
    with pytest.raises(CosmosBatchOperationError) as failed:
        await orders.execute_item_batch(
            [("create", (ORDER,)), ("create", (ORDER | {"id": "b"},))], "1"
        )
    assert (failed.value.status_code, failed.value.error_index) == (449, 1)
    assert _sent(cosmos, "batch") == ["207"]
    assert _ids(cosmos) == {"first"}


async def test_a_patch_cut_after_the_commit_is_applied_twice(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    await orders.create_item(ORDER | {"n": 0})
    cosmos.faults.add(Drop(applied=True), operation="patch")
    patched = await orders.patch_item("a", "1", [{"op": "incr", "path": "/n", "value": 1}])
    assert patched["n"] == 2


async def test_a_conditional_replace_cut_after_the_commit_fails_its_own_condition(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    etag = (await orders.create_item(ORDER))["_etag"]
    cosmos.faults.add(Drop(applied=True), operation="replace")
    with pytest.raises(CosmosAccessConditionFailedError):
        await orders.replace_item(
            "a", ORDER, etag=etag, match_condition=MatchConditions.IfNotModified
        )


async def test_a_delete_cut_after_the_commit_finds_nothing(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    await orders.create_item(ORDER)
    cosmos.faults.add(Drop(applied=True), operation="delete")
    with pytest.raises(CosmosResourceNotFoundError):
        await orders.delete_item("a", "1")


async def test_a_create_that_hangs_after_the_commit_meets_its_own_write(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Hang(applied=True), operation="create")
    with pytest.raises(CosmosResourceExistsError):
        await orders.create_item(ORDER, read_timeout=0.2)
    assert _sent(cosmos, "create") == ["hung", "409"]


@pytest.mark.parametrize(
    ("action", "answers"),
    [
        (Fail(code=503, applied=True), ["503", "409"]),
        (Fail(code=429, retry_after=0.01), ["429", "201"]),
        (Fail(code=449), ["449"]),
        (Fail(code=408, applied=True), ["408"]),
        (Fail(code=410), ["410"]),
        (Fail(code=410, sub_status=1002), ["410"]),
        (Fail(code=500), ["500"]),
        (Fail(code=403, sub_status=5301), ["403"]),
    ],
    ids=str,
)
async def test_which_refusals_of_a_create_are_sent_again(
    cosmos: LocalCosmos, orders: ContainerProxy, action: Fail, answers: list[str]
) -> None:
    cosmos.faults.add(action, operation="create")
    if answers[-1] == "201":
        await orders.create_item(ORDER)
    else:
        with pytest.raises(CosmosHttpResponseError) as refused:
            await orders.create_item(ORDER)
        assert str(refused.value.status_code) == answers[-1]
        assert refused.value.sub_status == action.sub_status
    assert _sent(cosmos, "create") == answers
    assert ("a" in _ids(cosmos)) == (action.applied or answers[-1] == "201")


async def test_throttling_for_ever_ends_after_nine_retries(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Fail(code=429, retry_after=0.001), operation="create", times=None)
    with pytest.raises(CosmosHttpResponseError):
        await orders.create_item(ORDER)
    assert _sent(cosmos, "create") == ["429"] * 10


@pytest.mark.parametrize("code", [408, 500, 503])
async def test_a_read_is_sent_again(cosmos: LocalCosmos, orders: ContainerProxy, code: int) -> None:
    await orders.create_item(ORDER)
    cosmos.faults.add(Fail(code=code), operation="read")
    await orders.read_item("a", "1")
    assert _sent(cosmos, "read") == [str(code), "200"]


async def test_a_cancelled_write_may_have_been_applied(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Hang(applied=True), operation="create")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(orders.create_item(ORDER), 0.2)
    assert _sent(cosmos, "create") == ["hung"]
    assert "a" in _ids(cosmos)


async def test_a_late_answer_arrives(cosmos: LocalCosmos, orders: ContainerProxy) -> None:
    cosmos.faults.add(Delay(seconds=0.05), operation="create")
    await orders.create_item(ORDER)
    assert _sent(cosmos, "create") == ["201"]


async def test_a_missing_role_is_forbidden_from_the_first_request_on(cosmos: LocalCosmos) -> None:
    cosmos.faults.add(Fail(code=403, sub_status=5301), times=None)
    client = CosmosClient.from_connection_string(cosmos.connection_string)
    with pytest.raises(CosmosHttpResponseError) as refused:
        await client.__aenter__()
    await client.close()
    assert (refused.value.status_code, refused.value.sub_status) == (403, 5301)
    assert "required RBAC permissions" in str(refused.value)


async def test_the_sync_client_does_not_send_a_cut_write_again(cosmos: LocalCosmos) -> None:
    def create() -> Any:
        with SyncCosmosClient.from_connection_string(cosmos.connection_string) as client:
            orders = client.get_database_client("shop").get_container_client("orders")
            with pytest.raises(ServiceResponseError):
                orders.create_item(ORDER)

    cosmos.faults.add(Drop(applied=True), operation="create")
    await asyncio.to_thread(create)
    assert _sent(cosmos, "create") == ["dropped"]
    assert _ids(cosmos) == {"a"}
