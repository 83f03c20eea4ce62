"""Requests with a valid signature and anything in them: always an answer, never an exception."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emulators.tests.cosmos.account import DOCS, Account, Answer, new_account

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
_DOCUMENTS = st.fixed_dictionaries(
    {}, optional={"id": st.text(max_size=3) | _VALUES, "orderId": _VALUES, "ttl": _VALUES}
)
_BATCH_OPERATIONS = st.fixed_dictionaries(
    {"operationType": st.sampled_from(["Create", "Read", "Replace", "Delete", "Upsert"]) | _VALUES},
    optional={
        "id": _VALUES,
        "resourceBody": _DOCUMENTS | _VALUES,
        "ifMatch": _VALUES,
        "partitionKey": _VALUES.map(json.dumps) | _VALUES,
    },
)
_WORDS = re.findall(
    r"\S+",
    """
    SELECT VALUE TOP DISTINCT * FROM c root r WHERE JOIN IN ORDER BY DESC GROUP OFFSET LIMIT AND OR
    NOT BETWEEN LIKE EXISTS ARRAY ( ) [ ] { } , . : ? ?? = != < >= + - / % || c.id c.n t 0 1 2.5
    'a' '%' null true undefined @p COUNT SUM MIN CONTAINS SUBSTRING ARRAY_CONTAINS ARRAY_SLICE
    """,
)
_QUERIES = st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join)
_PATCH_OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "set", "replace", "remove", "incr", "move"]) | _VALUES},
    optional={
        "path": st.sampled_from(["/n", "/tags/0", "/tags/-", "/a/b", "/orderId", "/~0"]) | _VALUES,
        "from": st.sampled_from(["/n", "/tags"]) | _VALUES,
        "value": _VALUES,
    },
)
_PATHS_TO_INDEX = st.fixed_dictionaries(
    {"path": st.sampled_from(["/", "/*", "/n/?", "/n/*", '/"n"/?', "//", "n", ""]) | _VALUES}
)
_CONTAINERS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(max_size=3) | _VALUES,
        "partitionKey": st.fixed_dictionaries(
            {}, optional={"paths": _VALUES, "kind": _VALUES, "version": _VALUES}
        ),
        "defaultTtl": _VALUES,
        "indexingPolicy": st.dictionaries(
            st.sampled_from(["includedPaths", "excludedPaths", "compositeIndexes", "indexingMode"]),
            st.lists(st.lists(_PATHS_TO_INDEX) | _PATHS_TO_INDEX, max_size=2) | _VALUES,
        ),
        "uniqueKeyPolicy": st.fixed_dictionaries({}, optional={"uniqueKeys": _VALUES}),
    },
)
_KNOWN = ["/", "/dbs", "/dbs/shop/colls/orders", DOCS, f"{DOCS}/a", "/docs", "/dbs/shop/docs/a"]
_PATHS = st.sampled_from(_KNOWN) | st.text(st.characters(codec="ascii"), max_size=20).map(
    lambda path: f"/{path}"
)
_HEADERS = st.text(st.characters(codec="ascii"), max_size=9) | _VALUES.map(json.dumps)


@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"]),
    path=_PATHS,
    body=st.binary(max_size=20) | _VALUES.map(lambda value: json.dumps(value).encode()),
)
def test_any_path_and_body(method: str, path: str, body: bytes) -> None:
    _is_answered(new_account().ask(method, path, body, pk="1"))


@given(document=_DOCUMENTS, header=_HEADERS)
def test_any_document_and_partition_key(document: object, header: str) -> None:
    account = new_account()
    _is_answered(account.ask("POST", DOCS, document, x_ms_documentdb_partitionkey=header))
    _is_answered(account.ask("POST", DOCS, document, pk="1"))


@given(operations=st.lists(_BATCH_OPERATIONS, min_size=1, max_size=3))
def test_any_batch(operations: list[Any]) -> None:
    _is_answered(new_account().batch(*operations))
    _is_answered(new_account().batch(*operations, x_ms_cosmos_batch_atomic="False"))


@given(query=_QUERIES | st.text(max_size=20), value=_VALUES, page=st.integers(-1, 2))
def test_any_query(query: str, value: object, page: int) -> None:
    _is_answered(
        _with_documents().query(query, [{"name": "@p", "value": value}], page=str(page or 1))
    )


@given(start=_QUERIES.map("SELECT * FROM c WHERE {}".format))
def test_any_condition_of_a_query(start: str) -> None:
    _is_answered(_with_documents().query(start))


@given(operations=st.lists(_PATCH_OPERATIONS, min_size=1, max_size=3), condition=_QUERIES)
def test_any_patch(operations: list[Any], condition: str) -> None:
    account = _with_documents()
    _is_answered(account.patch("a", *operations))
    _is_answered(account.patch("a", *operations, condition=f"FROM c WHERE {condition}"))


@given(
    etag=st.text(st.characters(codec="ascii"), max_size=5),
    epk=st.text(st.characters(codec="ascii"), max_size=5),
    token=st.text(st.characters(codec="ascii"), max_size=9),
)
def test_any_headers_of_a_feed(etag: str, epk: str, token: str) -> None:
    account = _with_documents()
    headers = {"x_ms_start_epk": epk, "x_ms_end_epk": "FF", "x_ms_session_token": token}
    _is_answered(account.ask("GET", DOCS, **headers, x_ms_continuation=token))
    _is_answered(account.ask("GET", DOCS, **headers, a_im="Incremental Feed", if_none_match=etag))


@given(container=_CONTAINERS)
def test_any_container(container: object) -> None:
    account = new_account()
    _is_answered(account.ask("POST", "/dbs/shop/colls", container))
    _is_answered(account.ask("PUT", "/dbs/shop/colls/orders", container))
    _is_answered(account.query("SELECT * FROM c ORDER BY c.n"))


def _with_documents() -> Account:
    account = new_account()
    account.create({"id": "a", "orderId": "1", "n": 1, "tags": ["x", {"k": None}], "a": {}})
    account.create({"id": "b", "orderId": "2", "n": "1", "tags": [[], True, 2.5]})
    return account


def _is_answered(answer: Answer) -> None:
    assert 200 <= answer.status < 600
    assert answer.status != 500
