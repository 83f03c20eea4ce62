"""The change feed: the latest version of what has changed, in order, in whole transactions."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulators.tests.cosmos.account import DOCS, Account, Answer, new_account
from local_azure.cosmos.store.effective_partition_keys import effective_partition_key
from local_azure.cosmos.store.partition_keys import Component

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy


def _changes(account: Account, since: str | None = None, **headers: str) -> Answer:
    asked = {"a_im": "Incremental Feed"} | ({} if since is None else {"if_none_match": since})
    return account.ask("GET", DOCS, **asked | headers)


def _ids(answer: Answer) -> list[str]:
    return [found["id"] for found in answer.json["Documents"]]


def _create(account: Account, *names: str, pk: str = "1") -> None:
    for name in names:
        account.create({"id": name, "orderId": pk})


def test_changes_come_in_order_once_and_then_nothing_new(account: Account) -> None:
    _create(account, "a", "b", "c")
    account.ask("PUT", f"{DOCS}/a", {"id": "a", "orderId": "1", "n": 1}, pk="1")
    account.ask("DELETE", f"{DOCS}/b", pk="1")
    answer = _changes(account)
    assert _ids(answer) == ["c", "a"]
    assert [found["_lsn"] for found in answer.json["Documents"]] == [3, 4]
    end = _changes(account, answer.headers["etag"])
    assert (end.status, end.body) == (304, b"")
    _create(account, "d")
    assert _ids(_changes(account, end.headers["etag"])) == ["d"]


def test_a_page_ends_where_a_batch_ends(account: Account) -> None:
    _create(account, "a")
    operations = [
        {"operationType": "Create", "resourceBody": {"id": name, "orderId": "1"}} for name in "bcd"
    ]
    account.batch(*operations)
    _create(account, "e")
    first = _changes(account, x_ms_max_item_count="2")
    assert _ids(first) == ["a", "b", "c", "d"]
    assert _ids(_changes(account, first.headers["etag"])) == ["e"]


def test_a_page_ends_before_four_megabytes_but_within_no_batch(account: Account) -> None:
    for name in "abcd":
        account.create({"id": name, "orderId": "1", "x": "y" * 1_900_000})
    first = _changes(account)
    assert _ids(first) == ["a", "b"]
    assert _ids(_changes(account, first.headers["etag"])) == ["c", "d"]
    change = {"operations": [{"op": "set", "path": "/n", "value": 1}]}
    patches = [{"operationType": "Patch", "id": name, "resourceBody": change} for name in "bcd"]
    assert account.batch(*patches, prefer="return=minimal").status == 200
    first = _changes(account)
    assert _ids(first) == ["a"]
    assert _ids(_changes(account, first.headers["etag"])) == ["b", "c", "d"]


def test_a_renamed_document_is_one_change(account: Account) -> None:
    renamed = {"operationType": "Replace", "id": "a", "resourceBody": {"id": "b", "orderId": "1"}}
    _create(account, "a", "b")
    account.batch({"operationType": "Delete", "id": "b"}, renamed)
    assert _ids(_changes(account)) == ["b"]


def test_a_client_may_start_now_or_at_a_time(account: Account) -> None:
    _create(account, "a")
    account.clock.advance(10)
    now = _changes(account, "*")
    assert now.status == 304
    _create(account, "b")
    assert _ids(_changes(account, now.headers["etag"])) == ["b"]
    since = formatdate(account.clock.now(), usegmt=True)
    assert _ids(_changes(account, if_modified_since=since)) == ["b"]


def test_the_changes_of_one_partition_are_asked_for_by_its_key(account: Account) -> None:
    _create(account, "a", "b")
    _create(account, "c", pk="2")
    assert _ids(_changes(account, x_ms_documentdb_partitionkey='["2"]')) == ["c"]


@pytest.mark.parametrize(
    ("headers", "outcome"),
    [
        ({"if_none_match": '"x"'}, (400, 0)),
        ({"if_modified_since": "yesterday"}, (400, 0)),
        ({"if_modified_since": "Mon, 01 Jan 99999999999999 00:00:00 GMT"}, (400, 0)),
        ({"if_modified_since": "Mon, 01 Jan 2024 99999999999999:00:00 GMT"}, (400, 0)),
        ({"if_modified_since": "Mon, 01 Jan 2024 00:00:00 +99999999999999"}, (400, 0)),
        ({"if_modified_since": "Mon, 01 Jan 2024 00:00:00"}, (400, 0)),
        ({"if_modified_since": " GMT"}, (400, 0)),
        ({"x_ms_documentdb_partitionkeyrangeid": "7"}, (410, 1002)),
        ({"a_im": "Full-Fidelity Feed"}, (501, 0)),
    ],
    ids=str,
)
def test_requests_that_are_refused(
    account: Account, headers: dict[str, str], outcome: tuple[int, int]
) -> None:
    assert _changes(account, **headers).outcome == outcome


_PARTS_OF_DATES = ["Mon,", "01", "Jan", "2024", "00:00:00", "9" * 14, "0001", "-1", "+9999", "²"]


@given(parts=st.lists(st.sampled_from(_PARTS_OF_DATES) | st.text(max_size=3), max_size=6))
def test_a_date_is_one_or_is_refused(parts: list[str]) -> None:
    since = " ".join([*parts, "GMT"])
    assert _changes(new_account(), if_modified_since=since).status in (304, 400)


@pytest.mark.parametrize(
    ("hash_version", "key", "place"),
    [
        (2, [Component("string", "1")], "3C80B1B7310BB39F29CC4EA05BDD461E"),
        (2, [Component("string", "é😀" * 10)], "06A4D9CB4EF559F1E5D999AA02034D84"),
        (2, [Component("number", 5)], "19C08621B135968252FB34B4CF66F811"),
        (2, [Component("boolean", value=True)], "0E711127C5B5A8E4726AC6DD306A3E59"),
        (2, [Component("null")], "378867E4430E67857ACE5C908374FE16"),
        (
            2,
            [Component("string", "t"), Component("number", 1.5)],
            "3B310042FC8EA24E4CB78FD8BFEDBAA735C5DDEB6C795D16A9963C73C54E97BC",
        ),
        (1, [Component("string", "1")], "05C1A3C5D33F20083200"),
        (
            1,
            [Component("string", "x" * 150)],
            "05C1DD45A3938C08797979797979797979797979797979797979797979797979",
        ),
        (1, [Component("number", 5)], "05C1D9C1C5517C05C014"),
        (1, [Component("boolean", value=False)], "05C1DB857D857C02"),
    ],
)
def test_effective_partition_keys_are_those_of_the_clients(
    hash_version: int, key: list[Component], place: str
) -> None:
    assert effective_partition_key(tuple(key), hash_version).startswith(place)


async def _read(container: ContainerProxy, **options: Any) -> list[str]:
    feed = container.query_items_change_feed(start_time="Beginning", **options)
    return [found["id"] async for found in feed]


async def test_the_sdk_reads_the_changes_of_all_and_of_one_partition(
    orders: ContainerProxy,
) -> None:
    for number in range(9):
        await orders.create_item({"id": str(number), "orderId": str(number % 3)})
    assert len(await _read(orders)) == 10
    assert await _read(orders, partition_key="1") == ["1", "4", "7"]
    assert await _read(orders, partition_key="1", max_item_count=1) == ["1", "4", "7"]
