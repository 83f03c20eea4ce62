from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from idempotent_consumer.core.consumer import Consumer, Container
from idempotent_consumer.core.entity import Entity
from idempotent_consumer.core.keys import MessageId
from idempotent_consumer.core.marker import Illegible, read_marker
from idempotent_consumer.core.plan import MAX_BYTES, MAX_OPERATIONS, RefusedPlan
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.request import Place
from idempotent_consumer.core.request_hash import Selection
from idempotent_consumer.core.writes import Create
from tests.unit.core.samples import NOON, ORDER, delivery, order_consumer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.writes import Write

GOLDEN = Path(__file__).parent / "golden/entity.json"
REQUEST = order_consumer().read(delivery(enqueued_time=NOON))
MARKER = REQUEST.marker("token", NOON)


def plan(*documents: Any, key: str = "ord-1001", retention: int | None = 3600) -> Plan:
    return Entity().plan(
        [Create(document) for document in documents],
        key=key,
        marker=MARKER,
        partition_path="/orderId",
        retention=retention,
    )


def stored(*documents: Any, **options: Any) -> list[dict[str, Any]]:
    return [dict(write.document) for write in plan(*documents, **options).operations]


def test_the_stored_document_is_what_it_always_was() -> None:
    """Every later version reads these: the file never changes."""
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == stored(ORDER)[0]


def test_a_stored_marker_reads_back_as_it_was() -> None:
    assert read_marker(json.loads(json.dumps(stored(ORDER)[0]))) == MARKER


def test_a_document_without_a_marker_has_none() -> None:
    assert read_marker(ORDER) is None


@pytest.mark.case("EVO-01")
@pytest.mark.parametrize(
    "damage",
    [
        {"schemaVersion": 2},
        {"state": "in_progress"},
        {"hash": {"tag": "sha256:jcs9"}},
        {"hash": None},
        {"committedAt": "yesterday"},
        {"committedAt": "2026-01-01T12:00:00"},
        {"hash": {**MARKER.as_json()["hash"], "only": []}},  # type: ignore[dict-item]
        {"hash": {**MARKER.as_json()["hash"], "digest": 5}},  # type: ignore[dict-item]
        {"fieldDigests": [[1, 2]]},
        {"fieldDigests": {"total": 5}},
    ],
)
def test_a_marker_of_another_kind_is_illegible(damage: dict[str, Any]) -> None:
    assert Illegible() == read_marker({"idempotency": {**MARKER.as_json(), **damage}})


@pytest.mark.parametrize("damage", ["text", 1, [], {}])
def test_what_is_no_marker_at_all_is_illegible(damage: Any) -> None:
    assert Illegible() == read_marker({"idempotency": damage})


def test_the_entity_gets_id_partition_marker_and_endless_life() -> None:
    entity = stored({"status": "new"})[0]
    marker = entity.pop("idempotency")
    assert entity == {"id": "ord-1001", "orderId": "ord-1001", "status": "new", "ttl": -1}
    assert marker["token"] == "token"


@pytest.mark.case("THR-06")
def test_the_raw_key_is_the_partition_and_the_encoded_one_the_id() -> None:
    assert Place(partition="a/b", id="a~2Fb") == plan({}, key="a/b").place
    assert stored({"id": "a/b", "orderId": "a/b"}, key="a/b")[0]["id"] == "a~2Fb"


def test_other_documents_share_the_partition_and_carry_no_marker() -> None:
    line = stored({}, {"id": "ord-1001/1", "sku": "s"})[1]
    assert line == {"id": "ord-1001~2F1", "orderId": "ord-1001", "sku": "s"}


def test_the_handlers_documents_stay_as_they_are() -> None:
    order, line = {"status": "new"}, {"id": "l/1"}
    plan(order, line)
    assert (order, line) == ({"status": "new"}, {"id": "l/1"})


def test_a_partition_path_may_lead_inwards() -> None:
    made = Entity().plan(
        [Create({})], key="k", marker=MARKER, partition_path="/a/b", retention=None
    )
    assert made.operations[0].document["a"] == {"b": "k"}


@pytest.mark.parametrize("document", [{"id": "ord-2"}, {"orderId": "ord-2"}])
def test_an_entity_that_names_another_key_is_rejected(document: dict[str, Any]) -> None:
    with pytest.raises(Rejected) as caught:
        plan(document)
    assert Reason.KEY_DISAGREES is caught.value.reason


def test_a_number_is_not_the_key_that_it_spells() -> None:
    """To Cosmos DB they are two partition values."""
    with pytest.raises(Rejected) as caught:
        plan({"orderId": 1001}, key="1001")
    assert Reason.KEY_DISAGREES is caught.value.reason


LINES = [{"id": f"line-{n}"} for n in range(MAX_OPERATIONS)]


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ([{}, *LINES], Reason.TOO_MANY_DOCUMENTS),
        ([{"note": "x" * MAX_BYTES}], Reason.TOO_LARGE),
        ([{}, {"id": "a", "n": "x" * 1_200_000}, {"id": "b", "n": "x" * 1_200_000}],
         Reason.TOO_LARGE),
        ([{"note": "é" * (MAX_BYTES // 6 + 1)}], Reason.TOO_LARGE),
    ],
    ids=["operations", "document", "batch", "escapes on the wire"],
)  # fmt: skip
def test_what_cosmos_db_would_not_take_is_rejected(
    documents: list[dict[str, Any]], reason: Reason
) -> None:
    with pytest.raises(Rejected) as caught:
        plan(*documents)
    assert reason is caught.value.reason


@pytest.mark.case("BAT-01")
def test_a_full_batch_is_planned() -> None:
    assert len(plan({}, *LINES[1:]).operations) == MAX_OPERATIONS


@pytest.mark.case("BAT-03")
@pytest.mark.parametrize(
    ("documents", "detail"),
    [
        ([], "returns a Create first"),
        ([{"idempotency": {}}], "reserved property"),
        ([{}, {"id": "l", "idempotency": None}], "reserved property"),
        ([{}, {"sku": "s"}], "no id"),
        ([{}, {"id": ""}], "no id"),
        ([{}, {"id": 7}], "no id"),
        ([{}, {"id": "ord-1001"}], "one id"),
        ([{}, {"id": "l"}, {"id": "l"}], "one id"),
        ([{}, {"id": "l", "orderId": "ord-2"}], "outside the message's partition"),
        ([{"ttl": 0}], "ttl"),
        ([{"ttl": True}], "ttl"),
        ([{"ttl": 1.5}], "ttl"),
        ([{"ttl": 3599}], "shorter than the retention"),
        ([{}, {"id": "l", "ttl": "never"}], "ttl"),
        ([{"total": float("nan")}], "not JSON"),
        ([{"when": NOON}], "not JSON"),
        ([None], "no mapping"),
        ([{}, [1]], "no mapping"),
    ],
)
def test_a_plan_that_breaks_the_promise_is_refused(
    documents: list[dict[str, Any]], detail: str
) -> None:
    with pytest.raises(RefusedPlan, match=detail):
        plan(*documents)


@pytest.mark.parametrize(("ttl", "retention"), [(-1, None), (3600, 3600), (-1, 3600)])
def test_an_entity_that_outlives_retention_is_planned(ttl: int, retention: int | None) -> None:
    assert ttl == stored({"ttl": ttl}, retention=retention)[0]["ttl"]


def test_without_retention_an_entity_never_expires() -> None:
    with pytest.raises(RefusedPlan, match="shorter than the retention"):
        plan({"ttl": 10**9}, retention=None)


class TestConsumer:
    def test_an_unknown_type_is_rejected(self) -> None:
        consumer = Consumer("c", Container("shop/orders", "/orderId"), marker=Entity())
        consumer.handler(dict, type="created")(_creates)
        with pytest.raises(Rejected) as caught:
            consumer.plan(consumer.read(delivery(subject="cancelled")), MARKER, None)
        assert Reason.UNKNOWN_MESSAGE_TYPE is caught.value.reason

    def test_each_type_has_its_handler_and_the_rest_another(self) -> None:
        taken = []
        consumer = Consumer("c", Container("shop/orders", "/orderId"), marker=Entity())
        for kind in ("created", None):

            @consumer.handler(dict, type=kind)
            def take(_body: Any, _message: Any, kind: str | None = kind) -> Sequence[Write]:
                taken.append(kind)
                return [Create({})]

        for subject in ("created", "changed", None):
            consumer.plan(consumer.read(delivery(subject=subject)), MARKER, None)
        assert taken == ["created", None, None]

    def test_a_type_has_one_handler(self) -> None:
        with pytest.raises(ValueError, match="already"):
            order_consumer().handler(dict)(_creates)

    def test_a_function_that_could_handle_no_message_is_none(self) -> None:
        async def asynchronous(_body: object, _message: object) -> Sequence[Write]:
            return [Create({})]

        def one_by_one(_body: object, _message: object) -> Iterator[Write]:
            yield Create({})

        def of_one(_body: object) -> Sequence[Write]:
            return [Create({})]

        consumer = Consumer("c", Container("shop/orders", "/orderId"), marker=Entity())
        for handle in (asynchronous, one_by_one, of_one):
            with pytest.raises(TypeError, match="handler"):
                consumer.handler(dict)(handle)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="c has no handler"):
            consumer.check()

    @pytest.mark.case("MUL-02")
    @pytest.mark.parametrize("name", ["", "a b", "/x", "x" * 65])
    def test_a_name_fits_everywhere(self, name: str) -> None:
        with pytest.raises(ValueError, match="no consumer name"):
            Consumer(name, Container("shop/orders", "/orderId"), marker=Entity())

    @pytest.mark.case("KEY-11")
    @pytest.mark.parametrize(
        ("option", "legal"),
        [
            ({"key": "/orderId"}, "BodyField"),
            ({"key": MessageId}, "BodyField"),
            ({"hashed": ["/sentAt"]}, "Selection"),
            ({"marker": Entity}, "Entity()"),
            ({"container": "shop/orders"}, "Container('shop/orders', '/orderId')"),
        ],
    )
    def test_what_would_fail_with_every_message_is_refused_at_the_start(
        self, option: dict[str, Any], legal: str
    ) -> None:
        with pytest.raises(TypeError, match=re.escape(legal)):
            order_consumer(**option)

    def test_a_body_of_which_the_request_hash_covers_nothing_is_rejected(self) -> None:
        """Else every change of it would pass for a copy."""
        consumer = order_consumer(hashed=Selection(only=["/Total"]))
        with pytest.raises(Rejected) as caught:
            consumer.read(delivery(ORDER))
        assert caught.value.reason is Reason.MALFORMED_BODY
        assert consumer.read(delivery({})).payload.body == {}

    @pytest.mark.parametrize("path", ["orders", "a/b/c", "/orders", "shop/"])
    def test_a_container_is_named_with_its_database(self, path: str) -> None:
        with pytest.raises(ValueError, match="shop/orders"):
            Container(path, "/orderId")

    @pytest.mark.parametrize("error", [ValueError, UnicodeError, KeyError])
    def test_a_decoder_rejects_by_the_errors_that_say_so(self, error: type[Exception]) -> None:
        def decoder(body: Any) -> Any:
            raise error("a secret value")

        consumer = Consumer(
            "c", Container("shop/orders", "/orderId"), marker=Entity(), rejects=[KeyError]
        )
        consumer.handler(decoder)(_creates)
        with pytest.raises(Rejected) as caught:
            consumer.plan(consumer.read(delivery()), MARKER, None)
        assert Reason.MALFORMED_BODY is caught.value.reason
        assert "secret" not in caught.value.detail

    @pytest.mark.parametrize("returned", [None, "text", {}, 1])
    def test_a_handler_that_returns_no_writes_is_refused(self, returned: Any) -> None:
        consumer = Consumer("c", Container("shop/orders", "/orderId"), marker=Entity())
        consumer.handler(dict)(lambda _body, _message: returned)
        with pytest.raises(RefusedPlan):
            consumer.plan(consumer.read(delivery()), MARKER, None)

    @pytest.mark.case("EVO-03")
    def test_a_decoder_may_change_what_it_gets(self) -> None:
        consumer = Consumer("c", Container("shop/orders", "/orderId"), marker=Entity())

        @consumer.handler(lambda body: body)
        def create(body: dict[str, Any], _message: Any) -> Sequence[Write]:
            body["status"] = body.pop("currency")
            return [Create(body)]

        request = consumer.read(delivery())
        consumer.plan(request, MARKER, None)
        assert request.payload.body == ORDER


def _creates(_body: object, _message: object) -> Sequence[Write]:
    return [Create({})]
