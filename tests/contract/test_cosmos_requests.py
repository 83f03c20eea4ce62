"""What a call of the Cosmos DB store sends, and that nothing but a 503 is sent twice."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.core.commit import Committed, Exists, Faulted, FaultKind
from idempotent_consumer.cosmos import account as account_module
from local_azure.faults import Drop, Fail, Hang
from tests.contract.store_contract import PLACE, line, marker, order, plan

if TYPE_CHECKING:
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.cosmos import CosmosStore
    from local_azure.cosmos import LocalCosmos
    from local_azure.faults import Action

ITEM_OPERATIONS = {"create", "batch", "read"}
PLANS = [
    pytest.param(plan(order(marker=marker())), "create", id="create"),
    pytest.param(plan(order(marker=marker()), line(1), line(2)), "batch", id="batch"),
]


def sent(cosmos: LocalCosmos) -> list[str]:
    """The requests for documents so far; what the SDK asks about the account is left out."""
    return [event.name for event in cosmos.events if event.name in ITEM_OPERATIONS]


@pytest.mark.parametrize(("new", "operation"), PLANS)
async def test_a_new_message_takes_one_request(
    cosmos: LocalCosmos, store: CosmosStore, new: Plan, operation: str
) -> None:
    assert await store.commit(new) == Committed()
    assert sent(cosmos) == [operation]


@pytest.mark.parametrize(("again", "operation"), PLANS)
async def test_a_repeated_message_takes_two_requests(
    cosmos: LocalCosmos, store: CosmosStore, again: Plan, operation: str
) -> None:
    await store.commit(again)
    cosmos.events.clear()
    assert await store.commit(again) == Exists(marker())
    assert sent(cosmos) == [operation, "read"]


async def test_a_read_or_a_probe_takes_one_request(cosmos: LocalCosmos, store: CosmosStore) -> None:
    await store.read(PLACE)
    await store.probe()
    assert sent(cosmos) == ["read", "read"]


@pytest.mark.case("OBS-01")
async def test_no_request_is_logged_with_its_key(
    store: CosmosStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Not even at INFO, where a Functions host and many an application have the root logger."""
    caplog.set_level(logging.INFO)
    await store.commit(plan(order(marker=marker())))
    await store.read(PLACE)
    assert [record for record in caplog.records if PLACE.partition in record.getMessage()] == []


async def test_concurrent_first_calls_open_the_container_once(
    cosmos: LocalCosmos, store: CosmosStore
) -> None:
    await asyncio.gather(*(store.read(PLACE) for _ in range(8)))
    assert len(cosmos.events.of("read_container")) == 1


@pytest.mark.case("AMB-03")
@pytest.mark.parametrize(("new", "operation"), PLANS)
@pytest.mark.parametrize(
    ("fault", "kind", "cause"),
    [
        (Drop(applied=False), FaultKind.UNAVAILABLE, "connection"),
        (Drop(applied=True), FaultKind.UNAVAILABLE, "connection"),
        (Hang(applied=True), FaultKind.UNAVAILABLE, "timeout"),
        (Fail(code=401), FaultKind.MISCONFIGURED, "401"),
        (Fail(code=403), FaultKind.MISCONFIGURED, "403"),
        (Fail(code=404), FaultKind.UNAVAILABLE, "404"),
        (Fail(code=408, applied=True), FaultKind.UNAVAILABLE, "408"),
        (Fail(code=410), FaultKind.UNAVAILABLE, "410"),
        (Fail(code=429), FaultKind.THROTTLED, "429"),
        (Fail(code=449), FaultKind.UNAVAILABLE, "449"),
        (Fail(code=500, applied=True), FaultKind.UNAVAILABLE, "500"),
    ],
    ids=str,
)
async def test_a_commit_that_fails_is_sent_once(
    cosmos: LocalCosmos,
    store: CosmosStore,
    monkeypatch: pytest.MonkeyPatch,
    new: Plan,
    operation: str,
    fault: Action,
    kind: FaultKind,
    cause: str,
) -> None:
    monkeypatch.setattr(account_module, "READ_TIMEOUT", 0.1)
    cosmos.faults.add(fault, operation=operation, times=None)
    result = await store.commit(new)
    assert isinstance(result, Faulted)
    assert (result.fault.kind, result.fault.cause) == (kind, cause)
    assert sent(cosmos) == [operation]


@pytest.mark.case("AMB-02")
@pytest.mark.parametrize(("new", "operation"), PLANS)
async def test_after_a_503_the_sdk_meets_its_own_write(
    cosmos: LocalCosmos, store: CosmosStore, new: Plan, operation: str
) -> None:
    cosmos.faults.add(Fail(code=503, applied=True), operation=operation)
    assert await store.commit(new) == Exists(marker())
    assert sent(cosmos) == [operation, operation, "read"]
