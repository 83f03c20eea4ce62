"""Requests with a valid signature and anything in them: always an answer, never an exception."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emulators.tests.cosmos.account import DOCS, Answer, new_account

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
    optional={"id": _VALUES, "resourceBody": _DOCUMENTS | _VALUES, "ifMatch": _VALUES},
)
_CONTAINERS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(max_size=3) | _VALUES,
        "partitionKey": st.fixed_dictionaries(
            {}, optional={"paths": _VALUES, "kind": _VALUES, "version": _VALUES}
        ),
        "defaultTtl": _VALUES,
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


@given(container=_CONTAINERS)
def test_any_container(container: object) -> None:
    account = new_account()
    _is_answered(account.ask("POST", "/dbs/shop/colls", container))
    _is_answered(account.ask("PUT", "/dbs/shop/colls/orders", container))


def _is_answered(answer: Answer) -> None:
    assert 200 <= answer.status < 600
    assert answer.status != 500
