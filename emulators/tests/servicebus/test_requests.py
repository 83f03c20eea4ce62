"""The nodes that answer requests, ``$cbs`` and ``$management``, asked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from emulators.tests.servicebus.requests_by_hand import (
    REQUESTS,
    answer,
    ask,
    credit_answers,
    open_node,
)
from local_azure.faults import Delay, Hang
from local_azure.servicebus.amqp.decoding import decode
from local_azure.servicebus.amqp.message import single_message as message
from local_azure.servicebus.amqp.performatives import (
    Attach,
    Close,
    Detach,
    Disposition,
    End,
    Transfer,
)
from local_azure.servicebus.amqp.types import Array, Described, UInt, ULong

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.servicebus import LocalServiceBus


@pytest.fixture
async def peer(bus: LocalServiceBus) -> AsyncIterator[Peer]:
    async with connected(bus) as peer:
        await peer.authenticate()
        await peer.begin()
        yield peer


@pytest.mark.parametrize("message_id", ["text", uuid4(), ULong(7), b"raw"])
async def test_an_answer_names_its_request_in_the_same_type(peer: Peer, message_id: object) -> None:
    await open_node(peer, "orders/$management")
    ask(peer, {}, message_id, operation="com.microsoft:dance")
    got = await answer(peer)
    assert (type(got.properties[5]), got.properties[5]) == (type(message_id), message_id)
    assert got.status["statusCode"] == 501
    assert got.status["errorCondition"] == "amqp:not-implemented"


@pytest.mark.parametrize(
    ("operation", "body", "status"),
    [
        ("renew-lock", {"lock-tokens": Array([uuid4()])}, 410),
        ("renew-lock", {"lock-tokens": ["x"]}, 400),
        ("renew-lock", "x", 400),
        (
            "update-disposition",
            {"lock-tokens": Array([uuid4()]), "disposition-status": "completed"},
            410,
        ),
        (
            "update-disposition",
            {"lock-tokens": Array([uuid4()]), "disposition-status": "defered"},
            410,
        ),
        (
            "update-disposition",
            {"lock-tokens": Array([uuid4()]), "disposition-status": "eaten"},
            400,
        ),
    ],
)
async def test_what_cannot_be_done_has_a_status(
    peer: Peer, operation: str, body: object, status: int
) -> None:
    await open_node(peer, "orders/$management")
    ask(peer, body, operation=f"com.microsoft:{operation}")
    assert (await answer(peer)).status["statusCode"] == status


@pytest.mark.parametrize(
    ("body", "properties"),
    [
        ("junk", {"operation": "put-token", "type": "jwt", "name": "sb://x/orders"}),
        ("junk", {"operation": "put-token", "type": "other", "name": "sb://x/orders"}),
        (None, {"operation": "put-token", "type": "jwt", "name": "sb://x/orders"}),
        ("junk", {"operation": "put-token", "type": "jwt"}),
    ],
)
async def test_a_token_that_is_none_opens_nothing(
    bus: LocalServiceBus, body: object, properties: dict[str, str]
) -> None:
    async with connected(bus) as peer:
        await peer.authenticate(mechanism="ANONYMOUS")
        await peer.begin()
        await open_node(peer, "$cbs")
        ask(peer, body, **properties)
        assert (await answer(peer)).status["status-code"] == 401
        await peer.attach(receiver=True)
        detach = await peer.expect(Detach)
        assert isinstance(detach.error, Described)
        assert isinstance(detach.error.value, list)
        assert detach.error.value[0] == "amqp:unauthorized-access"


async def test_cbs_knows_put_token_alone(peer: Peer) -> None:
    await open_node(peer, "$cbs")
    ask(peer, "x", operation="delete-token")
    assert (await answer(peer)).status["status-code"] == 501


async def test_answers_wait_forcredit_answers(peer: Peer) -> None:
    await open_node(peer, "orders/$management")
    credit_answers(peer, 0)
    ask(peer, {}, operation="x")
    credit_answers(peer, 1)
    assert (await answer(peer)).status["statusCode"] == 501


async def test_a_request_that_is_malformed_is_rejected(peer: Peer) -> None:
    await open_node(peer, "orders/$management")
    transfer = Transfer(handle=REQUESTS, delivery_id=UInt(0), delivery_tag=b"0")
    peer.send(transfer, PAYLOAD)
    disposition = await peer.expect(Disposition)
    assert isinstance(disposition.state, Described)
    assert disposition.state.descriptor == 0x25


async def test_a_link_that_opens_late_takes_what_comes_then(
    bus: LocalServiceBus, peer: Peer
) -> None:
    bus.faults.add(Delay(seconds=0.02), operation="attach")
    await peer.attach(receiver=True)
    peer.send(Detach(handle=UInt(0), closed=True))
    assert (await peer.expect(Detach)).closed


async def test_a_link_that_never_opens_can_be_given_up(bus: LocalServiceBus, peer: Peer) -> None:
    bus.faults.add(Hang(applied=True), operation="attach", entity="orders")
    peer.send(
        Attach(name="n", handle=UInt(0), role=True, source=Described(ULong(0x28), ["orders"]))
    )
    peer.send(Detach(handle=UInt(0), closed=True))
    assert (await peer.expect(Attach)).source is None
    assert (await peer.expect(Detach)).closed
    assert (await peer.attach(receiver=True)).source is not None


async def test_a_link_needs_an_address(peer: Peer) -> None:
    for descriptor, condition in ((0x29, "amqp:invalid-field"), (0x30, "amqp:not-implemented")):
        target = Described(ULong(descriptor), [])
        peer.send(Attach(name="n", handle=UInt(0), role=False, target=target))
        assert (await peer.expect(Attach)).target is None
        error = (await peer.expect(Detach)).error
        assert isinstance(error, Described)
        assert isinstance(error.value, list)
        assert error.value[0] == condition
        peer.send(Detach(handle=UInt(0), closed=True))
    peer.send(End())
    await peer.expect(End)
    peer.send(Close())
    assert (await peer.expect(Close)).error is None


def test_an_answer_is_a_map_that_all_clients_can_read() -> None:
    """Descriptors are in the one form that clients which index into the bytes expect."""
    encoded = message(properties=[], application_properties={}, value=decode(b"\x40"))
    assert encoded == b"\x00\x53\x73\x45\x00\x53\x74\xc1\x01\x00\x00\x53\x77\x40"
