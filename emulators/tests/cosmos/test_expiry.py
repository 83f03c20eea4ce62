"""Time to live, by the clock."""

from __future__ import annotations

import pytest

from emulators.tests.cosmos.account import DOCS, Account, new_account
from local_azure.cosmos import ContainerProperties


def _account(default_ttl: int | None) -> Account:
    return new_account(
        ContainerProperties(
            database="shop",
            id="orders",
            partition_key_paths=("/orderId",),
            default_ttl=default_ttl,
        )
    )


@pytest.mark.parametrize(
    ("default_ttl", "item", "lives"),
    [
        (None, {"ttl": 5}, None),
        (-1, {}, None),
        (-1, {"ttl": 5}, 5),
        (10, {}, 10),
        (10, {"ttl": 5}, 5),
        (10, {"ttl": -1}, None),
    ],
)
def test_a_document_lives_for_its_own_ttl_or_else_the_containers(
    default_ttl: int | None, item: dict[str, int], lives: int | None
) -> None:
    account = _account(default_ttl)
    account.create({"id": "a", "orderId": "1"} | item)
    account.clock.advance((lives or 2**31) - 1)
    assert account.read("a").status == 200
    account.clock.advance(1)
    assert account.read("a").status == (404 if lives else 200)


def test_an_expired_document_is_gone_for_every_operation_and_its_id_is_free() -> None:
    account = _account(5)
    document = {"id": "a", "orderId": "1"}
    first = account.create(document).json
    account.clock.advance(5)
    assert account.ask("PUT", f"{DOCS}/a", document, pk="1").status == 404
    assert account.ask("DELETE", f"{DOCS}/a", pk="1").status == 404
    assert account.service.documents("shop", "orders") == []
    assert account.create(document).json["_rid"] != first["_rid"]


def test_an_expired_id_stays_taken_where_that_is_asked_for() -> None:
    properties = ContainerProperties(
        database="shop", id="orders", partition_key_paths=("/orderId",), default_ttl=5
    )
    account = new_account(properties, expired_ids="taken")
    document = {"id": "a", "orderId": "1"}
    account.create(document)
    account.clock.advance(5)
    assert account.create(document).status == 409
    account.create(document | {"id": "b"})
    assert account.ask("PUT", f"{DOCS}/b", document, pk="1").status == 409
    assert account.read("a").status == 404
    assert account.create(document, x_ms_documentdb_is_upsert="True").status == 201
    assert account.read("a").status == 200


def test_a_write_renews_the_time_to_live() -> None:
    account = _account(5)
    document = {"id": "a", "orderId": "1"}
    account.create(document)
    account.clock.advance(4)
    account.ask("PUT", f"{DOCS}/a", document, pk="1")
    account.clock.advance(4)
    assert account.read("a").status == 200


def test_a_new_default_does_not_bring_back_what_has_expired() -> None:
    account = _account(5)
    account.create({"id": "old", "orderId": "1"})
    account.clock.advance(5)
    account.create({"id": "new", "orderId": "1"})
    container = account.ask("GET", "/dbs/shop/colls/orders").json | {"defaultTtl": -1}
    assert account.ask("PUT", "/dbs/shop/colls/orders", container).status == 200
    account.clock.advance(60)
    assert (account.read("old").status, account.read("new").status) == (404, 200)


@pytest.mark.parametrize("ttl", [0, -10, None, "5", 2**31, True, 1.5])
def test_a_ttl_is_minus_one_or_positive(ttl: object) -> None:
    account = _account(-1)
    assert account.create({"id": "a", "orderId": "1", "ttl": ttl}).outcome == (400, 0)
