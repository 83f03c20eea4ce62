"""The Cosmos DB store keeps the promises of a store, and meets what only the service does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from azure.core.utils import CaseInsensitiveDict
from azure.cosmos import CosmosDict, CosmosList

from idempotent_consumer.core.commit import (
    Collided,
    Committed,
    Exists,
    Faulted,
    FaultKind,
    Refused,
)
from idempotent_consumer.core.plan import Plan
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.core.request import Place
from idempotent_consumer.core.writes import Create
from idempotent_consumer.cosmos import CosmosAccount, CosmosStore
from local_azure.cosmos import ContainerProperties, LocalCosmos
from local_azure.faults import Fail
from tests.contract.store_contract import ORDERS, PLACE, StoreContract, line, marker, order, plan

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonObject
    from local_azure.faults import Operation

CALLS = {"commit": {"create", "batch"}, "read": {"read"}, "probe": {"read"}}


@dataclass
class CosmosHarness:
    cosmos: LocalCosmos
    store: CosmosStore

    def documents(self) -> list[JsonObject]:
        return [
            {name: value for name, value in document.items() if not name.startswith("_")}
            for document in self.cosmos.documents(ORDERS.path)
        ]

    def fail_next(self, call: str, status: int, *, applied: bool = False) -> None:
        def befalls(operation: Operation) -> bool:
            return operation.name in CALLS[call]

        answer = Fail(code=status, retry_after=0.25, applied=applied)
        self.cosmos.faults.add(answer, where=befalls)


class TestCosmosStore(StoreContract):
    @pytest.fixture
    async def harness(self, cosmos: LocalCosmos, store: CosmosStore) -> CosmosHarness:
        return CosmosHarness(cosmos, store)


NO_HEADERS = CaseInsensitiveDict()
FOREIGN = [
    CosmosDict({}, response_headers=NO_HEADERS),
    CosmosList([], response_headers=NO_HEADERS),
    CosmosList([{"statusCode": 304}], response_headers=NO_HEADERS),
    AttributeError("'NoneType' object has no attribute 'get'"),
    KeyError("statusCode"),
    TypeError("'NoneType' object is not iterable"),
    ValueError("invalid literal for int() with base 10: ''"),
]
"""What the SDK makes of redirects, empty pages and the like: all below 400 is a success to it."""


@pytest.fixture
async def answering(
    account: CosmosAccount, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    """Every call for documents is answered like this."""

    async def call(*_args: object, **_more: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    opened = await account.open(ORDERS)
    for name in ("create_item", "execute_item_batch", "read_item"):
        monkeypatch.setattr(opened.proxy, name, call)


@pytest.mark.case("AMB-05")
@pytest.mark.usefixtures("answering")
@pytest.mark.parametrize("answer", FOREIGN, ids=repr)
@pytest.mark.parametrize("lines", [[], [line(1)]], ids=["create", "batch"])
async def test_an_answer_that_is_not_cosmos_dbs_stores_nothing_for_certain(
    store: CosmosStore, lines: list[JsonObject]
) -> None:
    result = await store.commit(plan(order(marker=marker()), *lines))
    assert isinstance(result, Faulted)
    assert (result.fault.kind, result.fault.cause) == (FaultKind.UNAVAILABLE, "foreign answer")


@pytest.mark.usefixtures("answering")
@pytest.mark.parametrize("answer", FOREIGN, ids=repr)
async def test_an_answer_that_is_not_cosmos_dbs_is_no_document(store: CosmosStore) -> None:
    assert isinstance(await store.read(PLACE), Faulted)


@pytest.mark.case("AMB-07")
async def test_a_replica_that_lags_is_asked_again(cosmos: LocalCosmos, store: CosmosStore) -> None:
    await store.commit(plan(order(marker=marker("token-1"))))
    cosmos.faults.add(Fail(code=404), operation="read", times=2)
    assert await store.commit(plan(order(marker=marker("token-2")))) == Exists(marker("token-1"))


async def test_a_conflict_without_document_blames_the_marker(
    cosmos: LocalCosmos, store: CosmosStore
) -> None:
    cosmos.faults.add(Fail(code=409), operation="create")
    assert await store.commit(plan(order(marker=marker()))) == Collided(0)


async def test_a_conflict_may_be_about_a_unique_key() -> None:
    container = ContainerProperties(
        database=ORDERS.database,
        id=ORDERS.name,
        partition_key_paths=(ORDERS.partition_path,),
        unique_keys=(("/number",),),
    )
    async with LocalCosmos([container]) as cosmos:
        account = CosmosAccount(cosmos.endpoint, cosmos.key)
        store = CosmosStore(account, ORDERS, pauses=())
        assert await store.commit(plan(line(1) | {"number": 7})) == Committed()
        result = await store.commit(plan(order(marker=marker(), number=7)))
        assert result == Collided(0, unique_keys=True)
        await account.close()


@pytest.mark.case("POI-06")
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@pytest.mark.parametrize("others", [[], [line(1)]], ids=["create", "batch"])
@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (order(text="x" * 2**21), (Reason.TOO_LARGE, "413")),
        (order(ttl=0), (Reason.STORE_REJECTED, "400")),
    ],
    ids=["too large", "bad ttl"],
)
async def test_documents_that_the_service_never_takes_are_refused(
    cosmos: LocalCosmos,
    store: CosmosStore,
    document: JsonObject,
    others: list[JsonObject],
    refused: tuple[Reason, str],
) -> None:
    result = await store.commit(plan(document, *others))
    assert isinstance(result, Refused)
    assert (result.reason, result.cause) == refused
    assert cosmos.documents(ORDERS.path) == []


@pytest.mark.parametrize(("length", "taken"), [(101, True), (102, False)])
async def test_a_partition_value_that_is_not_hashed_whole_is_not_written(
    length: int, *, taken: bool
) -> None:
    """Under hash version 1, values that share their first 101 bytes share a partition."""
    container = ContainerProperties(
        database=ORDERS.database,
        id=ORDERS.name,
        partition_key_paths=(ORDERS.partition_path,),
        hash_version=1,
    )
    key = "k" * length
    write = Plan(
        place=Place(partition=key, id="o"), operations=(Create({"id": "o", "orderId": key}),)
    )
    async with LocalCosmos([container]) as cosmos:
        account = CosmosAccount(cosmos.endpoint, cosmos.key)
        result = await CosmosStore(account, ORDERS).commit(write)
        await account.close()
    if taken:
        assert result == Committed()
    else:
        assert isinstance(result, Faulted)
        assert (result.fault.kind, result.fault.local) == (FaultKind.MISCONFIGURED, True)
        assert "has a partition key of version 1" in result.fault.advice
