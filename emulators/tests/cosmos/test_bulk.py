"""Bulk: operations of many partitions in one request, each by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulators.tests.cosmos.account import Account, Answer, new_account
from local_azure.faults import Fail, Faults

INCREMENT = {"operations": [{"op": "incr", "path": "/n", "value": 1}]}


def _operation(kind: str, name: str, pk: Any = "1", **more: Any) -> dict[str, Any]:
    named = {"id": name} if kind in ("Read", "Replace", "Patch", "Delete") else {}
    body = {"Read": None, "Delete": None, "Patch": INCREMENT}.get(kind, {"id": name, "orderId": pk})
    shown = {} if body is None else {"resourceBody": body}
    return {"operationType": kind, "partitionKey": json.dumps([pk])} | named | shown | more


def _bulk(account: Account, *operations: Any, continues: str = "True", **headers: str) -> Answer:
    marked = {
        "x_ms_cosmos_is_batch_request": "True",
        "x_ms_cosmos_batch_atomic": "False",
        "x_ms_cosmos_batch_continue_on_error": continues,
        "x_ms_documentdb_partitionkeyrangeid": "0",
    }
    return account.ask("POST", "/dbs/shop/colls/orders/docs", list(operations), **marked | headers)


def _statuses(answer: Answer) -> list[int]:
    return [outcome["statusCode"] for outcome in answer.json]


def test_operations_of_many_partitions_each_have_their_own_result(account: Account) -> None:
    answer = _bulk(
        account,
        _operation("Create", "a"),
        _operation("Create", "a"),
        _operation("Create", "a", "2"),
        _operation("Upsert", "b", None),
        _operation("Patch", "a"),
        _operation("Replace", "a", ifMatch='"stale"'),
        _operation("Read", "a"),
        _operation("Delete", "a", "2"),
        _operation("Read", "a", "2"),
    )
    assert answer.status == 207
    assert _statuses(answer) == [201, 409, 201, 201, 200, 412, 200, 204, 404]
    assert answer.json[6]["resourceBody"]["n"] == 1
    assert answer.json[6]["eTag"] == answer.json[4]["eTag"]
    assert account.read("a").json["n"] == 1


def test_each_operation_has_a_log_sequence_number_of_its_own(account: Account) -> None:
    answer = _bulk(account, _operation("Create", "a"), _operation("Create", "b"))
    assert (answer.status, answer.headers["lsn"]) == (200, "2")


def test_without_leave_to_continue_the_first_failure_ends_it(account: Account) -> None:
    operations = [_operation("Create", name) for name in "aab"]
    assert _statuses(_bulk(account, *operations, continues="False")) == [201, 409, 424]
    assert (account.read("a").status, account.read("b").status) == (200, 404)


@pytest.mark.parametrize(
    ("partition_key", "outcome"),
    [
        ('["2"]', (400, 1001)),
        ("[]", (400, 1001)),
        ('["1", "2"]', (400, 1001)),
        ("[", (400, 0)),
        (["1"], (400, 0)),
        (None, (400, 0)),
    ],
)
def test_an_operation_without_its_own_partition_key_fails_alone(
    account: Account, partition_key: Any, outcome: tuple[int, int]
) -> None:
    wrong = _operation("Create", "a") | {"partitionKey": partition_key}
    answer = _bulk(account, wrong, _operation("Create", "b"))
    first, second = answer.json
    assert (first["statusCode"], first.get("subStatusCode", 0)) == outcome
    assert second["statusCode"] == 201


def test_a_header_names_the_partition_of_operations_that_do_not(account: Account) -> None:
    header = {"x_ms_documentdb_partitionkey": '["1"]', "x_ms_documentdb_partitionkeyrangeid": "0"}
    unnamed = {"operationType": "Create", "resourceBody": {"id": "a", "orderId": "1"}}
    elsewhere = _operation("Create", "a", "2")
    answer = _bulk(account, unnamed, _operation("Create", "b"), elsewhere, **header)
    assert _statuses(answer) == [201, 201, 400]


@pytest.mark.parametrize(
    ("headers", "outcome"),
    [
        ({"x_ms_documentdb_partitionkeyrangeid": "7"}, (410, 1002)),
        ({"x_ms_cosmos_batch_atomic": "True"}, (400, 0)),
        ({"x_ms_cosmos_intended_collection_rid": "AAAAAYAAAAA="}, (400, 1024)),
    ],
)
def test_a_bulk_that_is_refused_whole_does_nothing(
    account: Account, headers: dict[str, str], outcome: tuple[int, int]
) -> None:
    assert _bulk(account, _operation("Create", "a"), **headers).outcome == outcome
    assert account.read("a").status == 404


def test_a_bulk_names_a_range_or_a_partition(account: Account) -> None:
    marked = {"x_ms_cosmos_is_batch_request": "True", "x_ms_cosmos_batch_atomic": "False"}
    body = [_operation("Create", "a")]
    refused = account.ask("POST", "/dbs/shop/colls/orders/docs", body, **marked)
    assert refused.outcome == (400, 0)


def test_what_does_not_fit_into_the_answer_is_not_done(account: Account) -> None:
    account.create({"id": "large", "orderId": "1", "x": "y" * 2_000_000})
    patches = [_operation("Patch", "large")] * 3
    answer = _bulk(account, *patches, _operation("Create", "b"))
    assert _statuses(answer) == [200, 200, 413, 201]
    assert answer.json[2]["subStatusCode"] == 3402
    assert account.read("large").json["n"] == 2


@pytest.mark.parametrize(
    ("fail", "shown", "there"),
    [
        (Fail(code=429, sub_status=3200, retry_after=0.25), {"retryAfterMilliseconds": 250}, 404),
        (Fail(code=408, applied=True), {}, 200),
    ],
)
def test_one_operation_of_a_bulk_fails_on_order(
    fail: Fail, shown: dict[str, Any], there: int
) -> None:
    faults = Faults()
    account = new_account(faults=faults)
    faults.add(fail, operation="batch_create", key="a")
    answer = _bulk(account, _operation("Create", "a"), _operation("Create", "b"))
    assert _statuses(answer) == [fail.code, 201]
    assert answer.json[0].items() >= shown.items()
    assert account.read("a").status == there
