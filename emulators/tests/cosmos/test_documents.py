"""Documents, as the service answers them; no sockets, no event loop."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emulators.tests.cosmos.account import DOCS, NOW, Account, new_account
from local_azure.cosmos import ContainerProperties

ORDER = {"id": "a", "orderId": "1", "total": 5}


def test_a_created_document_comes_back_with_its_system_properties(account: Account) -> None:
    created = account.create(ORDER)
    assert created.status == 201
    assert created.json.items() >= ORDER.items()
    assert created.json.keys() - ORDER.keys() == {"_rid", "_self", "_etag", "_attachments", "_ts"}
    assert created.json["_ts"] == NOW
    assert created.headers["etag"] == created.json["_etag"]
    assert account.read("a").json == created.json


def test_a_minimal_answer_has_the_etag_but_no_body(account: Account) -> None:
    created = account.create(ORDER, prefer="return=minimal")
    assert (created.status, created.body) == (201, b"")
    assert created.headers["etag"] == account.read("a").json["_etag"]


def test_an_id_is_free_in_another_partition_and_taken_in_its_own(account: Account) -> None:
    account.create(ORDER)
    assert account.create(ORDER | {"orderId": "2"}).status == 201
    assert account.create(ORDER).outcome == (409, 0)


def test_a_missing_document_and_a_missing_container_are_told_apart(account: Account) -> None:
    assert account.read("nope").outcome == (404, 0)
    for path in ("/dbs/shop/colls/nope/docs/a", "/dbs/nope/colls/orders/docs/a"):
        assert account.ask("GET", path, pk="1").outcome == (404, 1003)


def test_replace_and_delete_honour_if_match(account: Account) -> None:
    etag = account.create(ORDER).json["_etag"]
    stale = {"if_match": '"stale"'}
    assert account.ask("PUT", f"{DOCS}/a", ORDER, pk="1", **stale).outcome == (412, 0)
    assert account.ask("DELETE", f"{DOCS}/a", pk="1", **stale).outcome == (412, 0)
    replaced = account.ask("PUT", f"{DOCS}/a", ORDER | {"total": 6}, pk="1", if_match=etag)
    assert (replaced.status, replaced.json["total"]) == (200, 6)
    assert replaced.json["_etag"] != etag
    current = replaced.json["_etag"]
    assert account.ask("DELETE", f"{DOCS}/a", pk="1", if_match=current).status == 204
    assert account.read("a").status == 404


def test_a_replace_keeps_the_resource_id_and_may_change_the_id(account: Account) -> None:
    created = account.create(ORDER).json
    renamed = account.ask("PUT", f"{DOCS}/a", ORDER | {"id": "b"}, pk="1").json
    assert renamed["_rid"] == created["_rid"]
    assert account.read("a").status == 404
    account.create(ORDER)
    assert account.ask("PUT", f"{DOCS}/a", ORDER | {"id": "b"}, pk="1").status == 409


def test_an_upsert_creates_then_replaces(account: Account) -> None:
    upsert = {"x_ms_documentdb_is_upsert": "True"}
    assert account.create(ORDER, **upsert).status == 201
    again = account.create(ORDER | {"total": 7}, **upsert)
    assert (again.status, account.read("a").json["total"]) == (200, 7)
    assert account.create(ORDER, **upsert, if_match='"stale"').outcome == (412, 0)


def test_a_read_of_a_known_version_is_not_modified(account: Account) -> None:
    etag = account.create(ORDER).json["_etag"]
    known = account.ask("GET", f"{DOCS}/a", pk="1", if_none_match=etag)
    assert (known.status, known.body) == (304, b"")


@pytest.mark.parametrize(
    "document_id", ["", None, 5, "a/b", "a\\b", "x" * 1024, "é" * 512], ids=repr
)
def test_ids_that_the_service_refuses(account: Account, document_id: object) -> None:
    assert account.ask("POST", DOCS, {"id": document_id, "orderId": "1"}, pk="1").status == 400


@pytest.mark.parametrize("document_id", ["x" * 1023, "%2F", "😀", ".", "..", " a:b@'\"?#+&="])
def test_ids_that_route_right(account: Account, document_id: str) -> None:
    assert account.create({"id": document_id, "orderId": "1"}).status == 201
    path = f"{DOCS}/" + "".join(f"%{byte:02X}" for byte in document_id.encode())
    assert account.ask("GET", path, pk="1").json["id"] == document_id


def test_dots_in_a_path_name_documents_and_are_never_normalised(account: Account) -> None:
    for dots in (".", ".."):
        account.create({"id": dots, "orderId": "1"})
        assert account.ask("DELETE", f"{DOCS}/{dots}", pk="1").status == 204
    assert account.ask("GET", "/dbs/shop/colls/orders").status == 200


_NO_DOCUMENTS = {
    "nothing": b"",
    "broken": b"{",
    "list": b"[]",
    "string": b'"text"',
    "NaN": b'{"id":"a","orderId":"1","n":NaN}',
    "minus infinity": b'{"id":"a","orderId":"1","n":-Infinity}',
    "no double": b'{"id":"a","orderId":"1","n":1e999}',
    "5000 digits": b'{"id":"a","orderId":"1","n":' + b"9" * 5000 + b"}",
    "byte order mark": b'\xef\xbb\xbf{"id":"a","orderId":"1"}',
    "utf-16": '{"id":"a","orderId":"1"}'.encode("utf-16"),
    "129 levels": b'{"id":"a","orderId":"1","n":' + b"[" * 128 + b"]" * 128 + b"}",
    "100001 levels": b'{"id":"a","orderId":"1","n":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("body", _NO_DOCUMENTS.values(), ids=_NO_DOCUMENTS)
def test_bodies_that_are_no_documents_are_bad_requests(account: Account, body: bytes) -> None:
    assert account.ask("POST", DOCS, body, pk="1").outcome == (400, 0)


def test_numbers_come_back_as_doubles(account: Account) -> None:
    numbers = [2**53 + 1, -(2**53) - 1, 10**20, 2**53 - 1, 0.1]
    created = account.create(ORDER | {"n": numbers})
    assert created.json["n"] == [2**53, -(2**53), 10**20, 2**53 - 1, 0.1]


def test_an_item_over_two_megabytes_is_too_large(account: Account) -> None:
    frame = len(json.dumps(ORDER | {"x": ""}))
    largest = "y" * (2 * 1024 * 1024 - frame)
    assert account.create(ORDER | {"x": largest + "y"}).outcome == (413, 0)
    assert account.create(ORDER | {"x": largest}).status == 201


def test_the_header_must_name_the_documents_partition(account: Account) -> None:
    assert account.ask("POST", DOCS, ORDER, pk="2").outcome == (400, 1001)
    assert account.ask("POST", DOCS, ORDER, pk=["1", "2"]).outcome == (400, 1001)
    assert account.ask("POST", DOCS, ORDER).outcome == (400, 0)


def test_partition_keys_of_different_types_are_different(account: Account) -> None:
    for value in (1, True, "1", None):
        assert account.ask("POST", DOCS, {"id": "a", "orderId": value}, pk=[value]).status == 201
    assert account.ask("POST", DOCS, {"id": "a"}, pk=[{}]).status == 201
    assert account.ask("POST", DOCS, {"id": "a", "orderId": 1.0}, pk=[1]).status == 409


@pytest.mark.parametrize(
    ("path", "document", "value"),
    [
        ("/a/b", {"a": {"b": 1}}, 1),
        ("/a/b", {"a": 1}, {}),
        ("/a", {"a": {"b": 1}}, {}),
        ("/a", {"a": [1]}, {}),
        ("""/"it's 1*()"/"a/b\"""", {"it's 1*()": {"a/b": "x"}}, "x"),
        ("""/'say "x"'""", {'say "x"': True}, True),
    ],
)
def test_the_partition_key_is_found_by_its_path(
    path: str, document: dict[str, Any], value: object
) -> None:
    account = new_account(
        ContainerProperties(database="shop", id="orders", partition_key_paths=(path,))
    )
    assert account.ask("POST", DOCS, document | {"id": "a"}, pk=[value]).status == 201


def test_a_partition_key_value_has_at_most_2048_bytes(account: Account) -> None:
    assert account.create({"id": "a", "orderId": "é" * 1024}).status == 201
    assert account.create({"id": "a", "orderId": "é" * 1024 + "x"}).outcome == (400, 0)


def test_hash_version_1_takes_values_that_start_alike_for_one_partition() -> None:
    orders = ContainerProperties(
        database="shop", id="orders", partition_key_paths=("/orderId",), hash_version=1
    )
    account = new_account(orders)
    assert account.create({"id": "a", "orderId": "x" * 101 + "1"}).status == 201
    assert account.create({"id": "a", "orderId": "x" * 101 + "2"}).status == 409
    assert account.create({"id": "a", "orderId": "x" * 100 + "3"}).status == 201


def test_a_hierarchical_key_needs_every_level() -> None:
    orders = ContainerProperties(
        database="shop", id="orders", partition_key_paths=("/tenant", "/order/id")
    )
    account = new_account(orders)
    document = {"id": "a", "tenant": "t", "order": {"id": "1"}}
    assert account.ask("POST", DOCS, document, pk=["t", "1"]).status == 201
    assert account.ask("GET", f"{DOCS}/a", pk=["t", "1"]).status == 200
    assert account.ask("GET", f"{DOCS}/a", pk=["t"]).outcome == (400, 1001)


def test_a_client_that_means_an_earlier_container_is_told(account: Account) -> None:
    meant = {"x_ms_cosmos_intended_collection_rid": "AAAAAYAAAAA="}
    assert account.create(ORDER, **meant).outcome == (400, 1024)


def test_unique_keys_hold_within_a_partition() -> None:
    orders = ContainerProperties(
        database="shop",
        id="orders",
        partition_key_paths=("/orderId",),
        unique_keys=(("/email", "/address/zip"),),
    )
    account = new_account(orders)
    first = {"id": "a", "orderId": "1", "email": "x", "address": {"zip": 1}}
    assert account.create(first).status == 201
    assert account.create(first | {"id": "b"}).outcome == (409, 0)
    assert account.create(first | {"id": "b", "orderId": "2"}).status == 201
    assert account.create(first | {"id": "b", "address": {"zip": 2}}).status == 201
    assert account.ask("PUT", f"{DOCS}/a", first, pk="1").status == 200
    assert account.ask("PUT", f"{DOCS}/b", first | {"id": "b"}, pk="1").status == 409
    assert account.create({"id": "c", "orderId": "1"}).status == 201
    assert account.create({"id": "d", "orderId": "1"}).status == 409


def test_errors_never_quote_a_document(account: Account) -> None:
    secret = {"id": "a", "orderId": "1", "card": "4929-0000", "ttl": "4929-0000"}
    refused = account.create(secret)
    assert refused.status == 400
    assert refused.json.keys() == {"code", "message"}
    assert refused.json["code"] == "BadRequest"
    assert b"4929" not in refused.body


@pytest.mark.parametrize(
    ("method", "path"), [("POST", DOCS), ("GET", f"{DOCS}/nope"), ("PUT", f"{DOCS}/a")]
)
def test_errors_of_items_carry_the_session(account: Account, method: str, path: str) -> None:
    account.create(ORDER)
    refused = account.ask(method, path, ORDER, pk="1", if_match='"stale"')
    assert refused.status in (404, 409, 412)
    assert refused.headers["x-ms-session-token"] == "0:-1#1"
    assert refused.headers["x-ms-alt-content-path"] == "dbs/shop/colls/orders"


def test_every_write_takes_the_next_log_sequence_number(account: Account) -> None:
    assert account.create(ORDER).headers["lsn"] == "1"
    assert account.read("a").headers["lsn"] == "1"
    assert account.ask("DELETE", f"{DOCS}/a", pk="1").headers["lsn"] == "2"


def test_the_activity_id_is_echoed(account: Account) -> None:
    assert account.create(ORDER, x_ms_activity_id="act").headers["x-ms-activity-id"] == "act"
    refused = account.create(ORDER, x_ms_activity_id="act")
    assert refused.headers["x-ms-activity-id"] == "act"
    assert "ActivityId: act" in refused.json["message"]
    unnamed = account.create(ORDER)
    assert f"ActivityId: {unnamed.headers['x-ms-activity-id']}" in unnamed.json["message"]


def test_request_charges_are_near_the_documented_ones(account: Account) -> None:
    one_kilobyte = account.create(ORDER | {"x": "y" * 700})
    assert float(one_kilobyte.headers["x-ms-request-charge"]) == 4.95
    assert float(account.read("a").headers["x-ms-request-charge"]) == 1.0
    large = account.create({"id": "b", "orderId": "1", "x": "y" * 15_000})
    assert 9 < float(large.headers["x-ms-request-charge"]) < 10


@pytest.mark.parametrize(
    ("method", "path", "headers", "named"),
    [
        ("POST", DOCS, {"x_ms_cosmos_is_query_plan_request": "true"}, "query_plan"),
        ("POST", "/dbs/shop/colls/orders/sprocs", {}, "sprocs"),
        ("GET", "/offers", {}, "offers"),
    ],
)
def test_what_is_not_emulated_is_refused_by_name(
    account: Account, method: str, path: str, headers: dict[str, str], named: str
) -> None:
    refused = account.ask(method, path, {}, pk="1", **headers)
    assert refused.status == 501
    assert named in refused.json["message"]
