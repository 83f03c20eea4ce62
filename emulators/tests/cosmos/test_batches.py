"""Transactional batches: all operations or none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulators.tests.cosmos.account import Account, new_account


def _create(name: str, **fields: Any) -> dict[str, Any]:
    body = {"id": name, "orderId": "1"} | fields
    return {"operationType": "Create", "resourceBody": body}


def _upsert(name: str, **fields: Any) -> dict[str, Any]:
    return _create(name, **fields) | {"operationType": "Upsert"}


def _replace(name: str, **fields: Any) -> dict[str, Any]:
    return _create(name, **fields) | {"operationType": "Replace", "id": name}


def _read(name: str) -> dict[str, Any]:
    return {"operationType": "Read", "id": name}


def _delete(name: str) -> dict[str, Any]:
    return {"operationType": "Delete", "id": name}


def _patch(name: str, *operations: Any) -> dict[str, Any]:
    body = {"operations": list(operations)}
    return {"operationType": "Patch", "id": name, "resourceBody": body}


def _statuses(answer: Any) -> list[int]:
    return [outcome["statusCode"] for outcome in answer.json]


def test_a_batch_sees_its_own_writes_and_shares_one_log_sequence_number(account: Account) -> None:
    answer = account.batch(
        _create("a"), _read("a"), _replace("a", n=1), _upsert("b"), _upsert("b"), _delete("a")
    )
    assert answer.status == 200
    assert _statuses(answer) == [201, 200, 200, 201, 200, 204]
    assert answer.headers["lsn"] == "1"
    assert answer.json[0]["eTag"] == answer.json[0]["resourceBody"]["_etag"]
    assert account.read("a").status == 404
    assert account.read("b").status == 200


def test_a_failed_batch_leaves_nothing_and_names_the_culprit(account: Account) -> None:
    account.create({"id": "taken", "orderId": "1"})
    answer = account.batch(_create("a"), _create("taken"), _delete("taken"))
    assert answer.status == 207
    assert _statuses(answer) == [424, 409, 424]
    assert account.read("a").status == 404
    assert account.read("taken").status == 200
    assert answer.headers["lsn"] == "1"


@pytest.mark.parametrize(
    ("operation", "outcome"),
    [
        (_read("nope"), (404, 0)),
        (_replace("nope"), (404, 0)),
        (_delete("nope"), (404, 0)),
        (_replace("taken") | {"ifMatch": '"stale"'}, (412, 0)),
        (_upsert("taken") | {"ifMatch": '"stale"'}, (412, 0)),
        (_delete("taken") | {"ifMatch": '"stale"'}, (412, 0)),
        (_create("a", orderId="2"), (400, 1001)),
        (_create("a/b"), (400, 0)),
        (_create("a", ttl=0), (400, 0)),
        ({"operationType": "Create"}, (400, 0)),
        ({"operationType": "Read"}, (404, 0)),
        ({"operationType": "Patch", "id": "taken"}, (400, 0)),
    ],
)
def test_the_failing_operation_has_its_own_code(
    account: Account, operation: dict[str, Any], outcome: tuple[int, int]
) -> None:
    account.create({"id": "taken", "orderId": "1"})
    first, second = account.batch(_create("b"), operation).json
    assert first["statusCode"] == 424
    assert (second["statusCode"], second.get("subStatusCode", 0)) == outcome


def test_which_of_several_failures_is_reported_can_be_chosen() -> None:
    failing = (_create("a"), _delete("nope"), _create("a"))
    assert _statuses(new_account().batch(*failing)) == [424, 404, 424]
    last = new_account(failed_batch_reports="last")
    assert _statuses(last.batch(*failing)) == [424, 424, 409]


def test_a_minimal_batch_answers_reads_with_bodies_all_the_same(account: Account) -> None:
    write, read = account.batch(_create("a"), _read("a"), prefer="return=minimal").json
    assert write.keys() == {"statusCode", "requestCharge", "eTag"}
    assert read["resourceBody"]["id"] == "a"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([], 400),
        ({}, 400),
        (["text"], 400),
        ([{"operationType": "Bogus"}], 400),
        ([{"operationType": "Read", "id": 5}], 400),
        ([_create(str(n)) for n in range(101)], 400),
        ([_create("a", x="y" * 2_100_000)], 413),
        (b"binary", 400),
    ],
    ids=range(8),
)
def test_batches_that_are_refused_whole(account: Account, body: Any, status: int) -> None:
    marked = {"x_ms_cosmos_is_batch_request": "True"}
    answer = account.ask("POST", "/dbs/shop/colls/orders/docs", body, pk="1", **marked)
    assert answer.status == status
    assert answer.json.keys() == {"code", "message"}


def test_a_batch_of_the_net_sdk_is_told_what_is_wrong(account: Account) -> None:
    marked = {"x_ms_cosmos_is_batch_request": "True"}
    refused = account.ask("POST", "/dbs/shop/colls/orders/docs", b"\x81\x01", pk="1", **marked)
    assert (refused.status, "HybridRow" in refused.json["message"]) == (400, True)


def test_a_batch_whose_answer_would_pass_four_megabytes_does_nothing(account: Account) -> None:
    account.create({"id": "large", "orderId": "1", "x": "y" * 2_000_000})
    refused = account.batch(_create("a"), *[_read("large")] * 3)
    assert refused.outcome == (413, 3402)
    assert account.read("a").status == 404
    growing = _patch("large", {"op": "set", "path": "/n", "value": 1})
    assert account.batch(*[growing] * 3).outcome == (413, 3402)
    assert account.batch(*[growing] * 3, prefer="return=minimal").status == 200
    assert account.batch(_read("large"), _read("large")).status == 200


def test_a_hundred_operations_are_allowed(account: Account) -> None:
    assert account.batch(*(_create(str(n)) for n in range(100))).status == 200


_OPERATIONS = st.lists(
    st.builds(
        lambda make, name: make(name),
        st.sampled_from([_create, _upsert, _replace, _read, _delete]),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=6,
)


def _model(existing: set[str], operations: list[dict[str, Any]]) -> set[str] | None:
    """The ids there are after a batch, or ``None`` if it must fail."""
    left = set(existing)
    for operation in operations:
        name = operation.get("id") or operation["resourceBody"]["id"]
        kind = operation["operationType"]
        if kind != "Upsert" and (name in left) == (kind == "Create"):
            return None
        left = left - {name} if kind == "Delete" else left | {name}
    return left


@given(batches=st.lists(_OPERATIONS, max_size=6))
def test_batches_behave_like_transactions_on_a_set(batches: list[list[dict[str, Any]]]) -> None:
    account = new_account()
    expected: set[str] = set()
    for operations in batches:
        after = _model(expected, operations)
        before = account.service.documents("shop", "orders")
        answer = account.batch(*operations)
        assert answer.status == (207 if after is None else 200)
        expected = expected if after is None else after
        now = account.service.documents("shop", "orders")
        assert {found.document["id"] for found in now} == expected
        assert after is not None or now == before
