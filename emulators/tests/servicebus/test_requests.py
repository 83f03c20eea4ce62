"""The nodes that answer requests, ``$cbs`` and ``$management``, asked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from local_azure.faults import Delay, Hang
from local_azure.servicebus.amqp.decoding import decode
from local_azure.servicebus.amqp.message import APPLICATION_PROPERTIES, PROPERTIES, split
from local_azure.servicebus.amqp.message import single_message as message
from local_azure.servicebus.amqp.performatives import (
    Attach,
    Close,
    Detach,
    Disposition,
    End,
    Flow,
    Transfer,
)
from local_azure.servicebus.amqp.types import Array, Described, UInt, ULong

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.servicebus import LocalServiceBus

_REQUESTS, _ANSWERS = UInt(1), UInt(2)


@pytest.fixture
async def peer(bus: LocalServiceBus) -> AsyncIterator[Peer]:
    async with connected(bus) as peer:
        await peer.authenticate()
        await peer.begin()
        yield peer


async def _open(peer: Peer, node: str) -> None:
    """Attaches both links of a node and gives credit for answers."""
    for handle, receiver in ((_REQUESTS, False), (_ANSWERS, True)):
        peer.send(
            Attach(
                name=f"{handle}",
                handle=handle,
                role=receiver,
                source=Described(ULong(0x28), [node if receiver else "me"]),
                target=Described(ULong(0x29), ["me" if receiver else node]),
                initial_delivery_count=UInt(0),
            )
        )
    await peer.expect(Attach)
    await peer.expect(Flow)
    await peer.expect(Attach)
    _credit(peer, 10)


def _credit(peer: Peer, credit: int) -> None:
    peer.send(
        Flow(
            next_incoming_id=UInt(0),
            incoming_window=UInt(100),
            next_outgoing_id=UInt(0),
            outgoing_window=UInt(100),
            handle=_ANSWERS,
            delivery_count=UInt(0),
            link_credit=UInt(credit),
        )
    )


def _ask(peer: Peer, body: object, message_id: object = "1", **properties: str) -> None:
    encoded = message(
        properties=[message_id, None, None, None, "me"],
        application_properties=properties,
        value=body,
    )
    transfer = Transfer(handle=_REQUESTS, delivery_id=UInt(0), delivery_tag=b"0", settled=True)
    peer.send(transfer, encoded)


async def _answer(peer: Peer) -> tuple[dict[object, object], list[object]]:
    frame = await peer.frame()
    assert isinstance(frame.performative, Transfer)
    assert frame.performative.settled
    sections = split(frame.payload)
    return sections.decoded(APPLICATION_PROPERTIES, dict), sections.decoded(PROPERTIES, list)


@pytest.mark.parametrize("message_id", ["text", uuid4(), ULong(7), b"raw"])
async def test_an_answer_names_its_request_in_the_same_type(peer: Peer, message_id: object) -> None:
    await _open(peer, "orders/$management")
    _ask(peer, {}, message_id, operation="com.microsoft:peek-message")
    status, properties = await _answer(peer)
    assert (type(properties[5]), properties[5]) == (type(message_id), message_id)
    assert status["statusCode"] == 501
    assert status["errorCondition"] == "amqp:not-implemented"


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
            501,
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
    await _open(peer, "orders/$management")
    _ask(peer, body, operation=f"com.microsoft:{operation}")
    assert (await _answer(peer))[0]["statusCode"] == status


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
        await _open(peer, "$cbs")
        _ask(peer, body, **properties)
        assert (await _answer(peer))[0]["status-code"] == 401
        await peer.attach(receiver=True)
        detach = await peer.expect(Detach)
        assert isinstance(detach.error, Described)
        assert isinstance(detach.error.value, list)
        assert detach.error.value[0] == "amqp:unauthorized-access"


async def test_cbs_knows_put_token_alone(peer: Peer) -> None:
    await _open(peer, "$cbs")
    _ask(peer, "x", operation="delete-token")
    assert (await _answer(peer))[0]["status-code"] == 501


async def test_answers_wait_for_credit(peer: Peer) -> None:
    await _open(peer, "orders/$management")
    _credit(peer, 0)
    _ask(peer, {}, operation="x")
    _credit(peer, 1)
    assert (await _answer(peer))[0]["statusCode"] == 501


async def test_a_request_that_is_malformed_is_rejected(peer: Peer) -> None:
    await _open(peer, "orders/$management")
    transfer = Transfer(handle=_REQUESTS, delivery_id=UInt(0), delivery_tag=b"0")
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
    attached = await peer.attach(receiver=True)
    assert attached.source is not None


async def test_a_link_needs_an_address(peer: Peer) -> None:
    peer.send(Attach(name="n", handle=UInt(0), role=False, target=Described(ULong(0x30), [])))
    assert (await peer.expect(Attach)).target is None
    await peer.expect(Detach)
    peer.send(End())
    await peer.expect(End)
    peer.send(Close())
    assert (await peer.expect(Close)).error is None


def test_an_answer_is_a_map_that_all_clients_can_read() -> None:
    """Descriptors are in the one form that clients which index into the bytes expect."""
    encoded = message(properties=[], application_properties={}, value=decode(b"\x40"))
    assert encoded == b"\x00\x53\x73\x45\x00\x53\x74\xc1\x01\x00\x00\x53\x77\x40"
