"""The HTTP front: bytes that are no requests, sizes, stops."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AccessToken
from azure.cosmos.aio import CosmosClient

from local_azure.cosmos import LocalCosmos
from local_azure.faults import Delay, Drop, Hang, Operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from azure.cosmos.aio import ContainerProxy

    from local_azure.faults import Action

_READ_ACCOUNT = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


def _encoded(encoding: bytes, body: bytes) -> bytes:
    return (
        b"GET / HTTP/1.1\r\nhost: x\r\nauthorization: type=aad&ver=1.0&sig=x\r\n"
        b"content-encoding: %b\r\ncontent-length: %d\r\n\r\n%b" % (encoding, len(body), body)
    )


async def _send(
    cosmos: LocalCosmos, raw: bytes, *, hang_up: bool = False, patience: float = 5
) -> bytes:
    """Writes bytes to a new connection and returns the first that come back."""
    address = urlsplit(cosmos.endpoint)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(raw)
        if hang_up:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(65536), patience)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"garbage\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nbroken header\r\n\r\n", 400),
        (_READ_ACCOUNT, 401),
        (b"GET /dbs/%FF HTTP/1.1\r\nhost: x\r\n\r\n", 401),
        (b"BREW /dbs/shop HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        (_encoded(b"gzip", b"{}"), 400),
        (_encoded(b"gzip", gzip.compress(b"{}")), 400),
        (_encoded(b"identity", b"{}"), 200),
    ],
)
async def test_bytes_that_are_no_request_are_refused(
    cosmos: LocalCosmos, raw: bytes, status: int
) -> None:
    assert _status(await _send(cosmos, raw)) == status


async def test_a_body_without_end_is_not_read_to_its_end(cosmos: LocalCosmos) -> None:
    head = b"POST /dbs HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999\r\n\r\n"
    assert _status(await _send(cosmos, head + b"x" * (2 * 1024 * 1024 + 1))) == 401


async def test_the_server_outlives_whatever_is_thrown_at_it(cosmos: LocalCosmos) -> None:
    chance = random.Random(7)  # noqa: S311
    seed = (
        b"POST /dbs/shop/colls/orders/docs HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n"
        b"authorization: type%3Dmaster%26ver%3D1.0%26sig%3Dx\r\nx-ms-date: now\r\n\r\n{}"
    )
    for _ in range(200):
        raw = bytearray(seed)
        for _ in range(chance.randint(1, 8)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        await _send(cosmos, bytes(raw), hang_up=True)
    assert _status(await _send(cosmos, _READ_ACCOUNT)) == 401


async def test_a_dropped_request_gets_no_byte_of_an_answer(cosmos: LocalCosmos) -> None:
    cosmos.faults.add(Drop(applied=False), operation="read_account")
    assert await _send(cosmos, _READ_ACCOUNT) == b""


def _reached(cosmos: LocalCosmos, action: Action) -> asyncio.Event:
    """Set when the action befalls a request."""
    reached = asyncio.Event()

    def tell(_: Operation) -> bool:
        reached.set()
        return True

    cosmos.faults.add(action, where=tell)
    return reached


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110  (what ends a task tells nobody)
            await asyncio.sleep(0.01)


async def _tasks_end(before: set[asyncio.Task[Any]]) -> None:
    await _until(lambda: asyncio.all_tasks() == before)


@pytest.mark.parametrize("action", [Hang(applied=False), Delay(seconds=3600)], ids=str)
async def test_a_stop_leaves_nothing_of_requests_that_wait(action: Action) -> None:
    async with LocalCosmos() as cosmos:
        reached = _reached(cosmos, action)
        waiting = asyncio.create_task(_send(cosmos, _READ_ACCOUNT))
        await reached.wait()
    assert asyncio.all_tasks() <= {asyncio.current_task(), waiting}
    assert await waiting == b""


async def test_a_stop_leaves_nothing_of_a_late_request_whose_client_has_left() -> None:
    before = asyncio.all_tasks()
    async with LocalCosmos() as cosmos:
        reached = _reached(cosmos, Delay(seconds=3600))
        leaving = asyncio.create_task(_send(cosmos, _READ_ACCOUNT, patience=0.1))
        await reached.wait()
        with pytest.raises(TimeoutError):
            await leaving
    assert asyncio.all_tasks() == before


async def test_a_request_that_hangs_ends_when_its_client_leaves(cosmos: LocalCosmos) -> None:
    before = asyncio.all_tasks()
    cosmos.faults.add(Hang(applied=False))
    with pytest.raises(TimeoutError):
        await _send(cosmos, _READ_ACCOUNT, patience=0.1)
    await _tasks_end(before)


async def test_a_late_request_is_carried_out_although_its_client_has_left(
    cosmos: LocalCosmos, orders: ContainerProxy
) -> None:
    cosmos.faults.add(Delay(seconds=0.2), operation="create", key="late")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(orders.create_item({"id": "late", "orderId": "1"}), 0.1)
    await _until(lambda: bool(cosmos.events.of("create", key="late")))
    assert [event.detail for event in cosmos.events.of("create", key="late")] == ["201"]


async def test_a_client_that_leaves_within_its_body_leaves_no_trace(
    cosmos: LocalCosmos, caplog: pytest.LogCaptureFixture
) -> None:
    before = asyncio.all_tasks()
    head = b"POST /dbs HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n"
    with pytest.raises(TimeoutError):
        await _send(cosmos, head + b"{", patience=0.1)
    await _tasks_end(before)
    assert not caplog.records
    assert not [*cosmos.events]


async def test_what_nobody_foresaw_is_an_answer_and_one_line_in_the_log(
    cosmos: LocalCosmos, caplog: pytest.LogCaptureFixture
) -> None:
    cosmos.faults.add(Drop(applied=True), where=lambda _: 1 / 0 > 0)
    raw = b"GET / HTTP/1.1\r\nhost: x\r\nx-ms-activity-id: act\r\n\r\n"
    head, _, body = (await _send(cosmos, raw)).partition(b"\r\n\r\n")
    assert _status(head) == 500
    assert b"x-ms-activity-id: act" in head
    assert "ActivityId: act" in json.loads(body)["message"]
    (record,) = caplog.records
    assert "act" in record.getMessage()
    assert record.exc_info is not None


async def test_the_longest_partition_key_fits_into_its_header(orders: ContainerProxy) -> None:
    longest = "\x01" * 2048
    await orders.create_item({"id": "a", "orderId": longest})
    assert (await orders.read_item("a", longest))["orderId"] == longest


class _Token:
    """A credential of Entra ID, as far as the SDK asks."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("token", 2**40)

    async def close(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass


async def test_https_takes_keys_and_tokens() -> None:
    async with LocalCosmos({"shop/orders": "/orderId"}, tls=True) as cosmos:
        assert cosmos.endpoint.startswith("https://127.0.0.1:")
        credentials: list[Any] = [cosmos.key, _Token()]
        for credential in credentials:
            async with CosmosClient(cosmos.endpoint, credential) as client:
                orders = client.get_database_client("shop").get_container_client("orders")
                await orders.upsert_item({"id": "a", "orderId": "1"})
                assert (await orders.read_item("a", "1"))["orderId"] == "1"


async def test_a_taken_port_is_an_os_error(cosmos: LocalCosmos) -> None:
    port = urlsplit(cosmos.endpoint).port
    assert port is not None
    with pytest.raises(OSError, match="address already in use"):
        await LocalCosmos(port=port).__aenter__()


def test_documents_of_a_container_that_is_not_there_are_a_key_error() -> None:
    with pytest.raises(KeyError, match="shop/nope"):
        LocalCosmos({"shop/orders": "/orderId"}).documents("shop/nope")
