"""Patches: what they change, what they refuse, and their condition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulators.tests.cosmos.account import DOCS, Account

ORDER = {
    "id": "a",
    "orderId": "1",
    "n": 1,
    "tags": ["x", "y"],
    "at": {"city": "Oslo"},
    "a/b": {"c~d": 1},
}
ADDED = {"op": "add", "path": "/new", "value": 1}


@pytest.fixture
def order(account: Account) -> Account:
    assert account.create(ORDER).status == 201
    return account


def _op(name: str, path: str, *value: Any, source: str | None = None) -> dict[str, Any]:
    given = {"op": name, "path": path} | ({"value": value[0]} if value else {})
    return given | ({"from": source} if source else {})


@pytest.mark.parametrize(
    ("operation", "changed"),
    [
        (_op("add", "/new", {"k": [1]}), {"new": {"k": [1]}}),
        (_op("add", "/n", 2), {"n": 2}),
        (_op("add", "/n", None), {"n": None}),
        (_op("add", "/at/zip", "0150"), {"at": {"city": "Oslo", "zip": "0150"}}),
        (_op("add", "/tags/0", "w"), {"tags": ["w", "x", "y"]}),
        (_op("add", "/tags/2", "z"), {"tags": ["x", "y", "z"]}),
        (_op("add", "/tags/-", "z"), {"tags": ["x", "y", "z"]}),
        (_op("set", "/n", 2), {"n": 2}),
        (_op("set", "/new", 2), {"new": 2}),
        (_op("set", "/tags/0", "w"), {"tags": ["w", "y"]}),
        (_op("set", "/tags/2", "z"), {"tags": ["x", "y", "z"]}),
        (_op("replace", "/n", "one"), {"n": "one"}),
        (_op("replace", "/tags/1", "z"), {"tags": ["x", "z"]}),
        (_op("remove", "/at/city"), {"at": {}}),
        (_op("remove", "/tags/0"), {"tags": ["y"]}),
        (_op("incr", "/n", 2), {"n": 3}),
        (_op("incr", "/n", -0.5), {"n": 0.5}),
        (_op("incr", "/new", 2), {"new": 2}),
        (_op("move", "/town", source="/at/city"), {"at": {}, "town": "Oslo"}),
        (_op("move", "/tags/0", source="/n"), {"tags": [1, "x", "y"]}),
        (_op("add", "/a~1b/c~0d", 2), {"a/b": {"c~d": 2}}),
        (_op("set", "/ttl", -1), {"ttl": -1}),
    ],
)
def test_an_operation_changes(
    order: Account, operation: dict[str, Any], changed: dict[str, Any]
) -> None:
    answer = order.patch("a", operation)
    assert answer.status == 200
    expected = ORDER | changed
    removed = {"n"} if operation.get("from") == "/n" else set()
    assert {k: v for k, v in answer.json.items() if not k.startswith("_")} == {
        name: value for name, value in expected.items() if name not in removed
    }
    assert order.read("a").json == answer.json


@pytest.mark.parametrize(
    "operation",
    [
        5,
        _op("rename", "/n", 1),
        _op("add", "/new"),
        _op("add", "n", 1),
        _op("add", "/", 1),
        _op("add", "/x/y", 1),
        _op("add", "/n/y", 1),
        _op("add", "/tags/3", 1),
        _op("add", "/tags/01", 1),
        _op("add", "/tags/x", 1),
        _op("replace", "/gone", 1),
        _op("replace", "/tags/2", 1),
        _op("replace", "/tags/-", 1),
        _op("remove", "/gone"),
        _op("incr", "/tags", 1),
        _op("incr", "/n", "1"),
        _op("incr", "/n", True),
        _op("incr", "/new", None),
        _op("move", "/new"),
        _op("move", "/new", source="/missing"),
        _op("move", "/at/in", source="/at"),
        _op("set", "/id", "b"),
        _op("set", "/_etag", "b"),
        _op("set", "/orderId", "2"),
        _op("set", "/ttl", 0),
        {"op": "add", "path": 5, "value": 1},
    ],
)
def test_an_operation_that_cannot_be_done_undoes_the_others(order: Account, operation: Any) -> None:
    before = order.read("a").json
    assert order.patch("a", ADDED, operation).status == 400
    assert order.read("a").json == before


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("FROM c WHERE c.n = 1", 200),
        ("from root where root.n = 1 and root.at.city = 'Oslo'", 200),
        ("FROM c WHERE c.n = 2", 412),
        ("FROM c WHERE c.missing = 2", 412),
        ("FROM c WHERE c.n", 412),
        ("FROM c", 200),
        ("SELECT * FROM c", 400),
        ("FROM c WHERE", 400),
    ],
)
def test_a_patch_happens_under_its_condition(order: Account, condition: str, status: int) -> None:
    answer = order.patch("a", ADDED, condition=condition)
    assert answer.status == status
    assert ("new" in order.read("a").json) == (status == 200)


def test_a_patch_honours_if_match_and_needs_a_document(order: Account) -> None:
    etag = order.read("a").json["_etag"]
    assert order.patch("a", ADDED, if_match='"stale"').outcome == (412, 0)
    assert order.patch("a", ADDED, if_match=etag).status == 200
    assert order.patch("nope", ADDED).outcome == (404, 0)


def test_a_bare_list_is_a_patch_too(order: Account) -> None:
    answer = order.ask("PATCH", f"{DOCS}/a", [ADDED], pk="1")
    assert (answer.status, answer.json["new"]) == (200, 1)


@pytest.mark.parametrize(
    "body", [{}, [], 5, {"operations": 5}, {"operations": [ADDED], "condition": 5}, [ADDED] * 11]
)
def test_bodies_that_are_no_patches(order: Account, body: Any) -> None:
    assert order.ask("PATCH", f"{DOCS}/a", body, pk="1").outcome == (400, 0)


def test_ten_operations_are_allowed(order: Account) -> None:
    assert order.patch("a", *[_op("incr", "/n", 1)] * 10).json["n"] == 11


def test_a_sum_beyond_the_doubles_is_refused(order: Account) -> None:
    assert order.patch("a", _op("set", "/n", 1e308), _op("incr", "/n", 1e308)).status == 400


def test_a_patched_document_has_at_most_two_megabytes(order: Account) -> None:
    frame = len(json.dumps(ORDER | {"x": "", "y": ""}, separators=(",", ":")))
    large = "x" * (2 * 1024 * 1024 - frame - 1000)
    order.create(ORDER | {"id": "b", "x": large, "y": ""})
    assert order.patch("b", _op("set", "/y", "é" * 500)).status == 200
    assert order.patch("b", _op("set", "/y", "é" * 500 + "z")).outcome == (413, 0)
    assert order.read("b").json["y"] == "é" * 500


def test_a_patched_document_nests_at_most_128_levels(order: Account) -> None:
    order.patch("a", _op("set", "/deep", _nested(100)))
    inside = "/deep" + "/0" * 99
    assert order.patch("a", _op("add", f"{inside}/-", _nested(27))).status == 200
    before = order.read("a").json
    assert order.patch("a", _op("add", f"{inside}/-", _nested(28))).outcome == (400, 0)
    deeper = [_op("add", "/new", before["deep"]), _op("move", f"{inside}/-", source="/new")]
    assert order.patch("a", *deeper).outcome == (400, 0)
    assert order.read("a").json == before


def _nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


def test_patches_are_part_of_batches(order: Account) -> None:
    def patch(condition: str) -> dict[str, Any]:
        body = {"operations": [ADDED], "condition": condition}
        return {"operationType": "Patch", "id": "a", "resourceBody": body}

    created = {"operationType": "Create", "resourceBody": {"id": "b", "orderId": "1"}}
    refused = order.batch(created, patch("FROM c WHERE c.n = 2"))
    assert [each["statusCode"] for each in refused.json] == [424, 412]
    assert order.read("b").status == 404
    done = order.batch(created, patch("FROM c WHERE c.n = 1"))
    assert [each["statusCode"] for each in done.json] == [201, 200]
    assert done.json[1]["resourceBody"]["new"] == 1
