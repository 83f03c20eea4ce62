"""Pages: lists and queries that go on where the last page ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emulators.tests.cosmos.account import DOCS, Account, signature
from local_azure.cosmos.errors import CosmosError
from local_azure.cosmos.rest.paging import Tokens
from local_azure.cosmos.sql.execution import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def ten(account: Account) -> Account:
    """An account with ten documents in three partitions, ``n`` against their order."""
    for number in range(10):
        account.create({"id": str(number), "orderId": str(number % 3), "n": -(number // 2)})
    return account


def _pages(
    account: Account, text: str, page: int, between: Callable[[], object] = lambda: None
) -> Iterator[list[Any]]:
    headers: dict[str, str] = {}
    while True:
        answer = account.query(text, page=str(page), **headers)
        yield answer.json["Documents"]
        if "x-ms-continuation" not in answer.headers:
            return
        headers = {"x_ms_continuation": answer.headers["x-ms-continuation"]}
        between()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT VALUE c.id FROM c",
        "SELECT VALUE c.id FROM c WHERE c.n < 0",
        "SELECT VALUE c.id FROM c ORDER BY c.n",
        "SELECT VALUE c.id FROM c ORDER BY c.n DESC",
        "SELECT TOP 7 VALUE c.id FROM c ORDER BY c.n",
        "SELECT VALUE c.id FROM c OFFSET 2 LIMIT 5",
        "SELECT DISTINCT VALUE c.n FROM c",
        "SELECT DISTINCT VALUE c.n FROM c OFFSET 1 LIMIT 3",
        "SELECT c.orderId, COUNT(1) AS n FROM c GROUP BY c.orderId",
        "SELECT VALUE x FROM c JOIN x IN [1, 2, 3]",
    ],
)
@pytest.mark.parametrize("page", [1, 2])
def test_pages_together_are_the_whole(ten: Account, text: str, page: int) -> None:
    whole = ten.query(text).json["Documents"]
    pages = list(_pages(ten, text, page))
    assert [result for found in pages for result in found] == whole
    assert all(len(found) == page for found in pages[:-1])
    assert len(whole) > page


def _long_values(account: Account) -> None:
    """Ten documents in three partitions; texts that differ at their end alone, and deep arrays."""
    deep: Any = 0
    for _ in range(120):
        deep = [deep]
    for number in range(10):
        value = deep if number > 7 else f"{'é' * 20_000}{number // 2}"
        account.create({"id": str(number), "orderId": str(number % 3), "n": value})


@pytest.mark.parametrize("order", ["c.n", "c.n DESC"])
@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_long_values_are_an_order_too_even_if_they_go(
    account: Account, order: str, method: str
) -> None:
    _long_values(account)
    text = f"SELECT VALUE c.id FROM c ORDER BY {order}"  # noqa: S608
    whole = account.query(text).json["Documents"]
    read: list[str] = []

    def change_what_was_read() -> None:
        pk = str(int(read[-1]) % 3)
        body = {"id": read[-1], "orderId": pk, "n": None} if method == "PUT" else None
        assert account.ask(method, f"{DOCS}/{read[-1]}", body, pk=pk).status in (200, 204)

    for page in _pages(account, text, 1, change_what_was_read):
        if page[0] in read:
            break
        read += page
    assert read == whole


def test_a_token_fits_into_a_header_whatever_the_order(account: Account) -> None:
    _long_values(account)
    answer = account.query("SELECT * FROM c ORDER BY c.n DESC", page="3")
    assert len(answer.headers["x-ms-continuation"]) < 4096


@pytest.mark.parametrize("order", ["", " ORDER BY c.n", " ORDER BY c.n DESC"])
def test_documents_that_go_between_pages_hide_no_other(ten: Account, order: str) -> None:
    read: list[str] = []

    def delete_what_was_read() -> None:
        for name in read:
            ten.ask("DELETE", f"{DOCS}/{name}", pk=str(int(name) % 3))

    for page in _pages(ten, "SELECT VALUE c.id FROM c" + order, 3, delete_what_was_read):  # noqa: S608
        read += page
    assert sorted(read) == [str(number) for number in range(10)]


def test_a_list_gives_all_documents_in_pages(ten: Account) -> None:
    first = ten.ask("GET", DOCS, x_ms_max_item_count="8")
    assert (first.json["_count"], first.headers["x-ms-item-count"]) == (8, "8")
    second = ten.ask("GET", DOCS, x_ms_continuation=first.headers["x-ms-continuation"])
    found = first.json["Documents"] + second.json["Documents"]
    assert [each["id"] for each in found] == [str(number) for number in range(10)]
    assert "x-ms-continuation" not in second.headers
    assert ten.ask("GET", DOCS, pk="1").json["_count"] == 3


def test_a_page_ends_before_four_megabytes(account: Account) -> None:
    for number in range(3):
        account.create({"id": str(number), "orderId": "1", "x": "y" * 1_900_000})
    answer = account.query("SELECT * FROM c")
    assert (answer.json["_count"], "x-ms-continuation" in answer.headers) == (2, True)


@pytest.mark.parametrize("token", ["garbage", "AAAA", "é", "/" * 40])
def test_a_token_that_is_none_is_a_bad_request(ten: Account, token: str) -> None:
    refused = ten.query("SELECT * FROM c", x_ms_continuation=token)
    assert refused.outcome == (400, 0)


def test_a_token_of_another_query_is_a_bad_request(ten: Account) -> None:
    token = ten.query("SELECT * FROM c", page="1").headers["x-ms-continuation"]
    assert ten.query("SELECT * FROM c", page="5", x_ms_continuation=token).status == 200
    assert ten.query("SELECT * FROM d", x_ms_continuation=token).outcome == (400, 0)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ({}, {"x_ms_documentdb_partitionkey": '["1"]'}),
        ({"x_ms_documentdb_partitionkey": '["1"]'}, {"x_ms_documentdb_partitionkey": '["2"]'}),
        ({"x_ms_documentdb_partitionkeyrangeid": "0"}, {}),
        ({"x_ms_start_epk": ""}, {"x_ms_start_epk": "00"}),
        ({"x_ms_start_epk": ""}, {"x_ms_start_epk": "", "x_ms_end_epk": "3F"}),
    ],
    ids=str,
)
def test_a_token_serves_only_the_part_of_a_container_that_it_came_from(
    ten: Account, part: dict[str, str], other: dict[str, str]
) -> None:
    token = ten.query("SELECT * FROM c", page="1", **part).headers["x-ms-continuation"]
    assert ten.query("SELECT * FROM c", x_ms_continuation=token, **part).status == 200
    refused = ten.query("SELECT * FROM c", x_ms_continuation=token, **other)
    assert refused.outcome == (400, 0)


def test_a_token_serves_only_the_container_that_it_came_from(ten: Account) -> None:
    token = ten.query("SELECT * FROM c", page="1").headers["x-ms-continuation"]
    assert ten.ask("DELETE", "/dbs/shop/colls/orders").status == 204
    again = {"id": "orders", "partitionKey": {"paths": ["/orderId"], "version": 2}}
    assert ten.ask("POST", "/dbs/shop/colls", again).status == 201
    assert ten.query("SELECT * FROM c", x_ms_continuation=token).outcome == (400, 0)


def test_long_positions_are_kept_until_others_need_the_room() -> None:
    tokens = Tokens()
    positions = [Position(keys=((4, str(number) * 30_000_000),)) for number in range(3)]
    given = [tokens.token_of(position, b"") for position in positions]
    assert tokens.position_of(given[2], b"") == positions[2]
    assert tokens.position_of(given[1], b"") == positions[1]
    with pytest.raises(CosmosError, match="not one of this query"):
        tokens.position_of(given[0], b"")
    larger_than_the_room = Position(keys=((4, "x" * 70_000_000),))
    token = tokens.token_of(larger_than_the_room, b"")
    assert tokens.position_of(token, b"") == larger_than_the_room


@pytest.mark.parametrize("count", ["0", "-2", "many"])
def test_a_page_has_a_size(ten: Account, count: str) -> None:
    assert ten.query("SELECT * FROM c", x_ms_max_item_count=count).outcome == (400, 0)


def test_documents_of_hierarchical_prefixes_are_found_by_interval(ten: Account) -> None:
    everything = {"x_ms_start_epk": "", "x_ms_end_epk": "FF"}
    nothing = {"x_ms_start_epk": "3F" * 16, "x_ms_end_epk": "FF"}
    assert ten.query("SELECT * FROM c", **everything).json["_count"] == 10
    assert ten.query("SELECT * FROM c", **nothing).json["_count"] == 0
    assert ten.query("SELECT * FROM c", x_ms_start_epk="xyz").outcome == (400, 0)


def test_query_metrics_tell_what_was_read_and_given(ten: Account) -> None:
    metrics = {"x_ms_documentdb_populatequerymetrics": "True"}
    answer = ten.query("SELECT VALUE c.id FROM c WHERE c.n = 0", **metrics)
    told = dict(
        pair.split("=") for pair in answer.headers["x-ms-documentdb-query-metrics"].split(";")
    )
    assert (told["retrievedDocumentCount"], told["outputDocumentCount"]) == ("10", "2")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_there_are_no_conflicts(account: Account, method: str) -> None:
    asked = {"x_ms_documentdb_isquery": "true"} if method == "POST" else {}
    body = {"query": "SELECT * FROM c"} if method == "POST" else None
    path = "/dbs/shop/colls/orders/conflicts"
    assert account.ask(method, path, body, pk="1", **asked).json["Conflicts"] == []
    assert account.ask("GET", f"{path}/a", pk="1").status == 404
    assert account.ask("DELETE", f"{path}/a", pk="1").status == 404


def test_all_documents_of_a_partition_are_deleted_at_once(ten: Account) -> None:
    path = "/dbs/shop/colls/orders/operations/partitionkeydelete"
    signed = signature("POST", "colls", "dbs/shop/colls/orders")
    assert ten.ask("POST", path, pk="1", authorization=signed).status == 200
    assert ten.query("SELECT DISTINCT VALUE c.orderId FROM c").json["Documents"] == ["0", "2"]


def test_a_client_is_not_shown_less_than_it_has_seen(ten: Account) -> None:
    seen = ten.read("1").headers["x-ms-session-token"]
    ahead = {"x_ms_session_token": "0:-1#11"}
    assert ten.ask("GET", f"{DOCS}/1", pk="1", x_ms_session_token=seen).status == 200
    assert ten.ask("GET", f"{DOCS}/1", pk="1", **ahead).outcome == (404, 1002)
    assert ten.query("SELECT * FROM c", **ahead).outcome == (404, 1002)
    assert ten.query("SELECT * FROM c", x_ms_session_token="1:-1#99,0:3").status == 200
    assert ten.query("SELECT * FROM c", x_ms_session_token="0:-1#x").outcome == (400, 0)
