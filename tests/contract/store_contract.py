"""What every store promises the engine; each store inherits the suite and supplies a harness."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from idempotent_consumer.core.commit import (
    Absent,
    Collided,
    Committed,
    Exists,
    Faulted,
    FaultKind,
    Unmarked,
)
from idempotent_consumer.core.consumer import Container
from idempotent_consumer.core.ids import encode_id
from idempotent_consumer.core.marker import PROPERTY, Illegible
from idempotent_consumer.core.plan import NEVER, Plan
from idempotent_consumer.core.request import Place
from idempotent_consumer.core.writes import Create
from tests.unit.core.samples import NOON, delivery, order_consumer

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonObject
    from idempotent_consumer.core.marker import Marker
    from idempotent_consumer.engine.ports import Store

ORDERS = Container("shop/orders", "/orderId")
TOKEN = "token-1"
PLACE = Place(partition="ord-1001", id="ord-1001")

ODD_KEYS = [
    ".",
    "..",
    "a/b",
    "a\\b",
    "a?b",
    "a#b",
    "50%",
    "a%2Fb",
    "~a",
    "~2F",
    " a b ",
    "a\tb\nc",
    "\x00",
    '"a"',
    "order:1@shop+2&x=y;z",
    "\u00e9",
    "e\u0301",
    "\U0001f600",
    "k" * 300,
]
"""Message ids that occur, and that Cosmos DB, its SDK or a URL would treat each in its way."""


class StoreHarness(Protocol):
    """A store under test, empty, and what is behind it."""

    @property
    def store(self) -> Store:
        """The store."""
        ...

    def documents(self) -> list[JsonObject]:
        """What is stored, less what the store itself adds."""
        ...

    def fail_next(self, call: str, status: int, *, applied: bool = False) -> None:
        """The next ``commit``, ``read`` or ``probe`` is answered with a status.

        500 is unavailable, 429 throttled for a quarter of a second, 403 misconfigured.
        """
        ...


def marker(token: str = TOKEN, *, consumer: str = "order-processor") -> Marker:
    own = order_consumer().read(delivery()).marker(token, NOON)
    return replace(own, consumer=consumer)


def order(place: Place = PLACE, *, marker: Marker | None = None, **more: Any) -> JsonObject:
    document: JsonObject = {"id": place.id, "orderId": place.partition, "ttl": NEVER, **more}
    return document if marker is None else {**document, PROPERTY: marker.as_json()}


def line(number: int, place: Place = PLACE) -> JsonObject:
    return order(Place(partition=place.partition, id=f"line-{number}"))


def plan(*documents: JsonObject, place: Place = PLACE) -> Plan:
    return Plan(place=place, operations=tuple(map(Create, documents)))


def by_id(documents: list[JsonObject]) -> dict[Any, JsonObject]:
    return {document["id"]: document for document in documents}


class StoreContract:
    """The suite. A subclass overrides the fixture."""

    @pytest.fixture
    async def harness(self) -> StoreHarness:
        raise NotImplementedError

    # A commit that nothing hinders

    async def test_a_document_is_stored_as_it_is(self, harness: StoreHarness) -> None:
        document = order(marker=marker(), total=39.98, lines=[{"sku": "\u00e4\U0001f600", "n": 1}])
        assert await harness.store.commit(plan(document)) == Committed()
        assert harness.documents() == [document]

    async def test_a_lifetime_is_stored(self, harness: StoreHarness) -> None:
        assert await harness.store.commit(plan(order(ttl=3600))) == Committed()
        assert [document["ttl"] for document in harness.documents()] == [3600]

    async def test_the_documents_of_a_plan_are_stored_together(self, harness: StoreHarness) -> None:
        documents = [order(marker=marker()), *map(line, range(99))]
        assert await harness.store.commit(plan(*documents)) == Committed()
        assert by_id(harness.documents()) == by_id(documents)

    async def test_one_id_is_free_in_another_partition(self, harness: StoreHarness) -> None:
        elsewhere = Place(partition="ord-1002", id=PLACE.id)
        assert await harness.store.commit(plan(order())) == Committed()
        assert await harness.store.commit(plan(order(elsewhere), place=elsewhere)) == Committed()
        assert len(harness.documents()) == 2

    @pytest.mark.case("ID-01", "ID-02", "ID-03")
    @pytest.mark.parametrize("key", ODD_KEYS, ids=ascii)
    async def test_any_key_is_stored_and_found(self, harness: StoreHarness, key: str) -> None:
        place = Place(partition=key, id=encode_id(key))
        alone = order(place, marker=marker())
        assert await harness.store.read(place) == Absent()
        assert await harness.store.commit(plan(alone, place=place)) == Committed()
        assert await harness.store.read(place) == Exists(marker())
        assert await harness.store.commit(plan(alone, place=place)) == Exists(marker())
        assert harness.documents() == [alone]

    @pytest.mark.parametrize("key", ODD_KEYS, ids=ascii)
    async def test_any_key_takes_a_batch(self, harness: StoreHarness, key: str) -> None:
        place = Place(partition=key, id=encode_id(key))
        together = plan(order(place, marker=marker()), line(1, place), place=place)
        assert await harness.store.commit(together) == Committed()
        assert await harness.store.commit(together) == Exists(marker())

    # A commit that meets a document

    @pytest.mark.parametrize("lines", [0, 2])
    async def test_a_marker_at_the_place_is_handed_over(
        self, harness: StoreHarness, lines: int
    ) -> None:
        first = order(marker=marker("token-1"))
        await harness.store.commit(plan(first))
        second = plan(order(marker=marker("token-2"), total=1), *map(line, range(lines)))
        assert await harness.store.commit(second) == Exists(marker("token-1"))
        assert harness.documents() == [first]

    async def test_the_markers_consumer_is_not_the_stores_business(
        self, harness: StoreHarness
    ) -> None:
        foreign = marker(consumer="invoicing")
        await harness.store.commit(plan(order(marker=foreign)))
        assert await harness.store.commit(plan(order(marker=marker()))) == Exists(foreign)

    async def test_a_marker_of_an_unknown_kind_is_one(self, harness: StoreHarness) -> None:
        await harness.store.commit(plan(order(idempotency={"schemaVersion": 99})))
        assert await harness.store.commit(plan(order(marker=marker()))) == Exists(Illegible())

    @pytest.mark.parametrize("lines", [0, 2])
    async def test_a_document_without_marker_is_handed_over(
        self, harness: StoreHarness, lines: int
    ) -> None:
        older = order(total=39.98)
        await harness.store.commit(plan(older))
        result = await harness.store.commit(plan(order(marker=marker()), *map(line, range(lines))))
        assert isinstance(result, Unmarked)
        assert result.document.items() >= older.items()
        assert harness.documents() == [older]

    @pytest.mark.parametrize("blamed", [1, 2, 3])
    async def test_the_operation_that_met_a_document_is_named(
        self, harness: StoreHarness, blamed: int
    ) -> None:
        await harness.store.commit(plan(line(blamed)))
        together = plan(order(marker=marker()), line(1), line(2), line(3))
        assert await harness.store.commit(together) == Collided(blamed)
        assert harness.documents() == [line(blamed)]

    async def test_of_concurrent_commits_one_wins(self, harness: StoreHarness) -> None:
        markers = [marker(f"token-{number}") for number in range(8)]
        plans = [plan(order(marker=own), line(number)) for number, own in enumerate(markers)]
        results = await asyncio.gather(*map(harness.store.commit, plans))
        winner = results.index(Committed())
        assert results.count(Committed()) == 1
        assert results.count(Exists(markers[winner])) == 7
        assert by_id(harness.documents()) == by_id([order(marker=markers[winner]), line(winner)])

    # A commit that nobody answers

    @pytest.mark.parametrize("lines", [0, 2])
    async def test_a_fault_before_the_write_leaves_nothing(
        self, harness: StoreHarness, lines: int
    ) -> None:
        together = plan(order(marker=marker()), *map(line, range(lines)))
        harness.fail_next("commit", 500)
        assert _fault(await harness.store.commit(together)) == (FaultKind.UNAVAILABLE, "500")
        assert harness.documents() == []
        assert await harness.store.commit(together) == Committed()

    @pytest.mark.parametrize("lines", [0, 2])
    async def test_after_a_fault_ones_own_write_is_met(
        self, harness: StoreHarness, lines: int
    ) -> None:
        together = plan(order(marker=marker()), *map(line, range(lines)))
        harness.fail_next("commit", 500, applied=True)
        assert _fault(await harness.store.commit(together)) == (FaultKind.UNAVAILABLE, "500")
        assert len(harness.documents()) == 1 + lines
        assert await harness.store.commit(together) == Exists(marker())

    async def test_a_fault_while_looking_for_the_marker_is_one(self, harness: StoreHarness) -> None:
        await harness.store.commit(plan(order(marker=marker())))
        harness.fail_next("read", 429)
        result = await harness.store.commit(plan(order(marker=marker())))
        assert _fault(result) == (FaultKind.THROTTLED, "429")

    async def test_a_throttled_commit_says_how_long_to_wait(self, harness: StoreHarness) -> None:
        harness.fail_next("commit", 429)
        result = await harness.store.commit(plan(order()))
        assert isinstance(result, Faulted)
        assert result.fault.retry_after == 0.25

    # Reading

    async def test_nothing_there_is_absent(self, harness: StoreHarness) -> None:
        assert await harness.store.read(PLACE) == Absent()

    async def test_a_read_hands_over_the_marker(self, harness: StoreHarness) -> None:
        await harness.store.commit(plan(order(marker=marker())))
        assert await harness.store.read(PLACE) == Exists(marker())

    async def test_a_read_hands_over_a_document_without_marker(self, harness: StoreHarness) -> None:
        await harness.store.commit(plan(order()))
        result = await harness.store.read(PLACE)
        assert isinstance(result, Unmarked)
        assert result.document.items() >= order().items()

    async def test_a_read_that_fails_is_a_fault(self, harness: StoreHarness) -> None:
        harness.fail_next("read", 429)
        assert _fault(await harness.store.read(PLACE)) == (FaultKind.THROTTLED, "429")

    async def test_a_probe_that_is_answered_finds_no_fault(self, harness: StoreHarness) -> None:
        assert await harness.store.probe() is None
        assert harness.documents() == []

    async def test_a_probe_finds_the_fault(self, harness: StoreHarness) -> None:
        harness.fail_next("probe", 403)
        fault = await harness.store.probe()
        assert fault is not None
        assert fault.kind is FaultKind.MISCONFIGURED
        assert await harness.store.probe() is None


def _fault(result: object) -> tuple[FaultKind, str]:
    assert isinstance(result, Faulted)
    return result.fault.kind, result.fault.cause
