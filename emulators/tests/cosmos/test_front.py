"""The HTTP front: bytes that are no requests, sizes, stops."""

from __future__ import annotations

import asyncio
import random
from typing import Any
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AccessToken
from azure.cosmos.aio import CosmosClient

from local_azure.cosmos import LocalCosmos
from local_azure.faults import Drop, Hang, Operation

_READ_ACCOUNT = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


async def _send(cosmos: LocalCosmos, raw: bytes, *, hang_up: bool = False) -> bytes:
    """Writes bytes to a new connection and returns the first that come back."""
    address = urlsplit(cosmos.endpoint)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(raw)
        if hang_up:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(65536), 5)
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


async def test_a_stop_does_not_wait_for_requests_that_hang() -> None:
    async with LocalCosmos() as cosmos:
        reached = asyncio.Event()

        def tell(_: Operation) -> bool:
            reached.set()
            return True

        cosmos.faults.add(Hang(applied=False), where=tell)
        hanging = asyncio.create_task(_send(cosmos, _READ_ACCOUNT))
        await reached.wait()
    assert await hanging == b""


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
