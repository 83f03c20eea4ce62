"""The account, databases, containers, signatures and resource ids."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from emulators.tests.cosmos.account import DATE, DOCS, Account, signature
from local_azure.clock import Clock
from local_azure.cosmos import ContainerProperties
from local_azure.cosmos.rest.service import Service
from local_azure.cosmos.rest.wire import Request

CONTAINER = {"id": "k", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}
HIERARCHY = {"paths": ["/a", "/b"], "kind": "MultiHash", "version": 2}


def _unique_keys(keys: int, paths: int) -> dict[str, Any]:
    key = {"paths": [f"/p{number}" for number in range(paths)]}
    return {"uniqueKeyPolicy": {"uniqueKeys": [key] * keys}}


def _bytes(rid: str) -> bytes:
    return base64.b64decode(rid.replace("-", "/"))


def test_databases_are_created_read_listed_and_deleted(account: Account) -> None:
    created = account.ask("POST", "/dbs", {"id": "new"})
    assert created.status == 201
    assert account.ask("POST", "/dbs", {"id": "new"}).outcome == (409, 0)
    assert account.ask("GET", "/dbs/new").json == created.json
    listed = account.ask("GET", "/dbs").json
    assert [database["id"] for database in listed["Databases"]] == ["shop", "new"]
    assert account.ask("DELETE", "/dbs/new").status == 204
    assert account.ask("GET", "/dbs/new").outcome == (404, 0)
    assert account.ask("DELETE", "/dbs/new").outcome == (404, 0)


def test_containers_are_created_read_listed_and_deleted(account: Account) -> None:
    created = account.ask("POST", "/dbs/shop/colls", CONTAINER | {"defaultTtl": 5})
    assert created.status == 201
    assert account.ask("POST", "/dbs/shop/colls", CONTAINER).outcome == (409, 0)
    assert account.ask("POST", "/dbs/nope/colls", CONTAINER).outcome == (404, 1003)
    assert account.ask("GET", "/dbs/shop/colls/k").json == created.json
    listed = account.ask("GET", "/dbs/shop/colls").json
    assert [found["id"] for found in listed["DocumentCollections"]] == ["orders", "k"]
    assert account.ask("DELETE", "/dbs/shop/colls/k").status == 204
    assert account.ask("GET", "/dbs/shop/colls/k").outcome == (404, 0)


def test_a_container_shows_what_it_was_created_with(account: Account) -> None:
    given = CONTAINER | {
        "defaultTtl": -1,
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}]},
        "indexingPolicy": {"indexingMode": "consistent", "excludedPaths": [{"path": "/*"}]},
    }
    shown = account.ask("POST", "/dbs/shop/colls", given).json
    for name in ("id", "partitionKey", "defaultTtl", "uniqueKeyPolicy"):
        assert shown[name] == given[name]
    assert shown["indexingPolicy"]["excludedPaths"] == [{"path": "/*"}]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"id": ""}, 400),
        ({"id": "a/b"}, 400),
        ({"id": "x" * 256}, 400),
        ({"partitionKey": None}, 400),
        ({"partitionKey": {"paths": []}}, 400),
        ({"partitionKey": {"paths": ["pk"]}}, 400),
        ({"partitionKey": {"paths": ["/a", "/b"]}}, 400),
        ({"partitionKey": {"paths": ["/a", "/b", "/c", "/d"], "kind": "MultiHash"}}, 400),
        ({"partitionKey": {"paths": ["/pk"], "version": 3}}, 400),
        ({"partitionKey": {"paths": ["/pk"], "version": True}}, 400),
        ({"partitionKey": HIERARCHY | {"version": 1}}, 400),
        ({"partitionKey": {"paths": ["/a", "/b"], "kind": "MultiHash"}}, 400),
        ({"partitionKey": HIERARCHY | {"paths": ["/a", "/b", "/a"]}}, 400),
        ({"defaultTtl": 0}, 400),
        ({"uniqueKeyPolicy": {"uniqueKeys": [{}]}}, 400),
        ({"uniqueKeyPolicy": {"uniqueKeys": 5}}, 400),
        (_unique_keys(11, 1), 400),
        (_unique_keys(1, 17), 400),
        ({"indexingPolicy": 5}, 400),
        ({"indexingPolicy": {"includedPaths": ["/*"]}}, 400),
        ({"indexingPolicy": {"excludedPaths": [{"path": "n"}]}}, 400),
        ({"indexingPolicy": {"compositeIndexes": [{"path": "/n"}]}}, 400),
        ({"indexingPolicy": {"includedPaths": [{"path": "/n/?"}]}}, 400),
        ({"indexingPolicy": {"excludedPaths": [{"path": "/n/*"}]}}, 400),
        ({"indexingPolicy": {"indexingMode": "eager"}}, 400),
        ({"indexingPolicy": {"indexingMode": None}}, 400),
        ({"indexingPolicy": {"indexingMode": "none"}, "defaultTtl": -1}, 400),
        ({"vectorEmbeddingPolicy": {}}, 501),
    ],
)
def test_container_bodies_that_are_refused(
    account: Account, change: dict[str, Any], status: int
) -> None:
    assert account.ask("POST", "/dbs/shop/colls", CONTAINER | change).status == status


@pytest.mark.parametrize(
    "change",
    [
        {"partitionKey": HIERARCHY},
        _unique_keys(10, 16),
        {
            "indexingPolicy": {
                "includedPaths": [{"path": "/n/?"}],
                "excludedPaths": [{"path": "/*"}],
            }
        },
        {"indexingPolicy": {"includedPaths": [{"path": "/"}]}},
        {"indexingPolicy": {"indexingMode": "lazy"}},
        {"indexingPolicy": {"indexingMode": "None"}},
    ],
)
def test_container_bodies_that_are_accepted(account: Account, change: dict[str, Any]) -> None:
    assert account.ask("POST", "/dbs/shop/colls", CONTAINER | change).status == 201


def test_a_replace_changes_the_default_ttl_and_nothing_fixed(account: Account) -> None:
    created = account.ask("POST", "/dbs/shop/colls", CONTAINER | {"defaultTtl": 5}).json
    path = "/dbs/shop/colls/k"
    replaced = account.ask("PUT", path, CONTAINER | {"defaultTtl": 9})
    assert replaced.json["defaultTtl"] == 9
    assert (replaced.json["_rid"], replaced.json["_etag"] == created["_etag"]) == (
        created["_rid"],
        False,
    )
    other_key = {"partitionKey": {"paths": ["/other"], "kind": "Hash", "version": 2}}
    assert account.ask("PUT", path, CONTAINER | other_key).status == 400
    assert "defaultTtl" not in account.ask("PUT", path, CONTAINER).json


def test_a_container_created_anew_has_another_resource_id_and_is_empty(account: Account) -> None:
    account.create({"id": "a", "orderId": "1"})
    body = account.ask("GET", "/dbs/shop/colls/orders").json
    account.ask("DELETE", "/dbs/shop/colls/orders")
    again = account.ask("POST", "/dbs/shop/colls", body).json
    assert again["_rid"] != body["_rid"]
    assert account.read("a").outcome == (404, 0)


def test_the_ranges_are_one_and_then_not_modified(account: Account) -> None:
    path = "/dbs/shop/colls/orders/pkranges"
    ranges = account.ask("GET", path)
    (only,) = ranges.json["PartitionKeyRanges"]
    assert (only["minInclusive"], only["maxExclusive"]) == ("", "FF")
    assert account.ask("GET", path, if_none_match=ranges.headers["etag"]).status == 304


def test_resource_ids_are_structured_like_the_services(account: Account) -> None:
    database = _bytes(account.ask("GET", "/dbs/shop").json["_rid"])
    container = _bytes(account.ask("GET", "/dbs/shop/colls/orders").json["_rid"])
    document = _bytes(account.create({"id": "a", "orderId": "1"}).json["_rid"])
    assert (len(database), len(container), len(document)) == (4, 8, 16)
    assert container[:4] == database
    assert container[4] & 0x80
    assert document[:8] == container


def _signed(method: str, path: str, kind: str, link: str, **more: Any) -> Request:
    headers = {"x-ms-date": DATE, "authorization": signature(method, kind, link)}
    return Request(
        method=method,
        path=path,
        headers=headers | {"x-ms-documentdb-partitionkey": '["1"]'},
        **more,
    )


def test_links_of_resource_ids_reach_what_they_name(account: Account) -> None:
    document = account.create({"id": "a", "orderId": "1"}).json
    request = _signed("GET", f"/{document['_self']}", "docs", document["_rid"].lower())
    assert json.loads(account.service.handle(request).body) == document


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "garbage",
        "type%3Daad%26ver%3D1.0%26sig%3D",
        signature("GET", "docs", "dbs/shop/colls/orders/docs/b"),
        signature("PUT", "docs", "dbs/shop/colls/orders/docs/a"),
        signature("GET", "docs", "dbs/shop/colls/orders/docs/a", base64.b64encode(b"k").decode()),
    ],
)
def test_a_request_needs_the_keys_signature(account: Account, authorization: str) -> None:
    account.create({"id": "a", "orderId": "1"})
    refused = account.ask("GET", f"{DOCS}/a", pk="1", authorization=authorization)
    assert refused.outcome == (401, 0)
    assert refused.json["code"] == "Unauthorized"


def test_a_token_serves_for_documents_and_not_for_what_holds_them(account: Account) -> None:
    token = {"authorization": "type%3Daad%26ver%3D1.0%26sig%3Dtoken"}
    assert account.create({"id": "a", "orderId": "1"}, **token).status == 201
    assert account.ask("GET", "/dbs/shop/colls/orders", **token).status == 200
    for method, path, body in (
        ("POST", "/dbs", {"id": "new"}),
        ("GET", "/dbs", None),
        ("DELETE", "/dbs/shop", None),
        ("POST", "/dbs/shop/colls", CONTAINER),
        ("PUT", "/dbs/shop/colls/orders", CONTAINER),
        ("DELETE", "/dbs/shop/colls/orders", None),
    ):
        assert account.ask(method, path, body, **token).outcome == (403, 5300)


def test_an_unsigned_request_has_no_effect_even_if_it_is_well_formed(account: Account) -> None:
    body = {"id": "a", "orderId": "1"}
    assert account.create(body, authorization="type=master&ver=1.0&sig=x").status == 401
    assert account.read("a").status == 404


def test_the_account_points_to_the_host_it_was_asked_at(account: Account) -> None:
    request = Request(
        method="GET",
        path="/",
        headers={
            "host": "cosmos.test:1",
            "x-ms-date": DATE,
            "authorization": signature("GET", "", ""),
        },
    )
    shown = json.loads(account.service.handle(request).body)
    assert shown["writableLocations"][0]["databaseAccountEndpoint"] == "http://cosmos.test:1/"
    assert shown["enableMultipleWriteLocations"] is False
    assert json.loads(shown["queryEngineConfiguration"])["maxSqlQueryInputLength"] > 0


def test_a_path_that_is_not_utf8_is_a_bad_request(account: Account) -> None:
    request = _signed("GET", f"{DOCS}/%FF", "", "")
    assert account.service.handle(request).status == 400


@pytest.mark.parametrize(
    "properties",
    [
        ContainerProperties(database="shop", id="", partition_key_paths=("/pk",)),
        ContainerProperties(database="shop", id="k", partition_key_paths=("pk",)),
        ContainerProperties(database="shop", id="k", partition_key_paths=("/pk",), default_ttl=0),
        ContainerProperties(
            database="shop", id="k", partition_key_paths=("/a", "/b"), hash_version=1
        ),
    ],
)
def test_a_container_that_cannot_be_is_refused_by_name(properties: ContainerProperties) -> None:
    with pytest.raises(ValueError, match="container 'shop/"):
        Service([properties], now=Clock().now)
