"""Requests to the nodes that answer, and their answers, frame by frame."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.amqp.decoding import decode
from local_azure.servicebus.amqp.message import APPLICATION_PROPERTIES, PROPERTIES, split
from local_azure.servicebus.amqp.message import single_message as message
from local_azure.servicebus.amqp.performatives import Attach, Flow, Transfer
from local_azure.servicebus.amqp.types import Described, UInt, ULong

if TYPE_CHECKING:
    from emulators.tests.servicebus.peer import Peer

REQUESTS, ANSWERS = UInt(1), UInt(2)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, taken apart."""

    status: dict[object, object]
    properties: list[object]
    value: Any


async def open_node(peer: Peer, node: str, credit: int = 10) -> None:
    """Attaches both links of a node and gives credit for answers."""
    for handle, receiver in ((REQUESTS, False), (ANSWERS, True)):
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
    if credit:
        credit_answers(peer, credit)


def credit_answers(peer: Peer, credit: int) -> None:
    peer.send(
        Flow(
            next_incoming_id=UInt(0),
            incoming_window=UInt(100),
            next_outgoing_id=UInt(0),
            outgoing_window=UInt(100),
            handle=ANSWERS,
            delivery_count=UInt(0),
            link_credit=UInt(credit),
        )
    )


def ask(peer: Peer, body: object, message_id: object = "1", **properties: str) -> None:
    encoded = message(
        properties=[message_id, None, None, None, "me"],
        application_properties=properties,
        value=body,
    )
    transfer = Transfer(handle=REQUESTS, delivery_id=UInt(0), delivery_tag=b"0", settled=True)
    peer.send(transfer, encoded)


async def answer(peer: Peer) -> Answer:
    """The next answer, which may come in several frames."""
    payload, more = b"", True
    while more:
        frame = await peer.frame()
        assert isinstance(frame.performative, Transfer)
        assert frame.performative.settled
        payload, more = payload + frame.payload, frame.performative.more
    sections = split(payload)
    body = decode(sections.body)
    assert isinstance(body, Described)
    return Answer(
        sections.decoded(APPLICATION_PROPERTIES, dict),
        sections.decoded(PROPERTIES, list),
        body.value,
    )


def jwt(**claims: object) -> str:
    """A JSON web token."""
    parts = [json.dumps({"alg": "none"}), json.dumps(claims), "signature"]
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().strip("=") for part in parts)
