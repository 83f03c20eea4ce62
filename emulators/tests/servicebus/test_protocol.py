"""AMQP itself: windows, credit, frames, heartbeats, and peers that do not keep to it."""

from __future__ import annotations

import asyncio
import random
import struct
import tracemalloc
from typing import TYPE_CHECKING, TypeVar

import pytest

from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from emulators.tests.servicebus.requests_by_hand import ask, open_node
from local_azure.servicebus import IdleRules, LocalServiceBus, QueueProperties
from local_azure.servicebus.amqp.encoding import encode, encode_map
from local_azure.servicebus.amqp.frames import AMQP_HEADER, SASL_HEADER, encode_frame
from local_azure.servicebus.amqp.held import Held
from local_azure.servicebus.amqp.message import (
    DATA,
    DELIVERY_ANNOTATIONS,
    HEADER,
    MESSAGE_ANNOTATIONS,
    section,
)
from local_azure.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Begin,
    Close,
    Composite,
    Detach,
    Disposition,
    End,
    Flow,
    Modified,
    Open,
    Released,
    SaslInit,
    Transfer,
)
from local_azure.servicebus.amqp.types import Described, Int, Long, Symbol, UByte, UInt, ULong
from local_azure.servicebus.nodes.content import WireContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_T = TypeVar("_T", bound=Composite)


@pytest.fixture
async def peer(bus: LocalServiceBus) -> AsyncIterator[Peer]:
    async with connected(bus) as peer:
        assert await peer.authenticate() == 0
        yield peer


def _transfer(payload: bytes = PAYLOAD, **more: object) -> tuple[Transfer, bytes]:
    fields = {"delivery_id": UInt(0), "delivery_tag": b"0", "message_format": UInt(0), **more}
    return Transfer(handle=UInt(0), **fields), payload  # type: ignore[arg-type]


def _part(payload: bytes) -> bytes:
    transfer, _ = _transfer(more=True)
    return encode_frame(transfer, payload=payload)


async def _sending(peer: Peer) -> None:
    await peer.begin()
    await peer.attach(receiver=False, initial_delivery_count=UInt(0))
    await peer.expect(Flow)


async def _put(bus: LocalServiceBus, *payloads: bytes) -> None:
    """Sends messages over a connection of its own."""
    async with connected(bus) as peer:
        await peer.authenticate()
        await _sending(peer)
        for number, payload in enumerate(payloads):
            peer.send(*_transfer(payload, delivery_id=UInt(number)))
            await peer.expect(Disposition)


def _error(performative: Close | Detach | Disposition) -> list[object]:
    """The condition, description and info of an error, which are always three."""
    value = performative.state if isinstance(performative, Disposition) else performative.error
    assert isinstance(value, Described)
    if value.descriptor == 0x25:
        (value,) = value.value  # type: ignore[misc]
    assert isinstance(value, Described)
    assert isinstance(value.value, list)
    assert len(value.value) == 3
    return value.value


async def test_a_message_of_several_frames_is_taken_as_one(
    bus: LocalServiceBus, peer: Peer
) -> None:
    await _sending(peer)
    for part in (PAYLOAD[:3], PAYLOAD[3:5]):
        peer.send(*_transfer(part, more=True))
    peer.send(*_transfer(PAYLOAD[5:]))
    disposition = await peer.expect(Disposition)
    assert (disposition.settled, disposition.state) == (True, Described(ULong(0x24), []))
    assert bus.queue("orders").active_count == 1


async def test_an_aborted_message_is_forgotten(bus: LocalServiceBus, peer: Peer) -> None:
    await _sending(peer)
    peer.send(*_transfer(b"junk", more=True))
    peer.send(*_transfer(b"", aborted=True))
    peer.send(*_transfer(delivery_id=UInt(1)))
    assert (await peer.expect(Disposition)).first == 1
    assert bus.queue("orders").active_count == 1


async def test_credit_and_window_are_topped_up_before_they_are_used_up(peer: Peer) -> None:
    await _sending(peer)
    flows: list[Flow] = []
    for number in range(2600):
        peer.send(*_transfer(delivery_id=UInt(number), settled=True))
    while len(flows) < 6:
        flows.append(await peer.expect(Flow))
    of_link = [flow for flow in flows if flow.handle is not None]
    assert [flow.delivery_count for flow in of_link] == [500, 1000, 1500, 2000, 2500]
    assert {flow.link_credit for flow in of_link} == {1000}
    (of_session,) = [flow for flow in flows if flow.handle is None]
    assert (of_session.next_incoming_id, of_session.incoming_window) == (2500, 5000)


async def test_no_more_is_sent_than_there_is_credit_for(bus: LocalServiceBus, peer: Peer) -> None:
    await _put(bus, PAYLOAD, PAYLOAD, PAYLOAD)
    await peer.begin()
    await peer.attach(receiver=True)
    peer.flow(credit=2, echo=True)
    for number in range(2):
        assert (await peer.expect(Transfer)).delivery_id == number
    assert (await peer.expect(Flow)).link_credit == 0
    assert bus.queue("orders").locked_count == 2
    peer.flow(credit=1, count=2)
    await peer.expect(Transfer)


async def test_no_more_is_sent_than_the_window_allows(bus: LocalServiceBus, peer: Peer) -> None:
    await _put(bus, section(DATA, encode(bytes(1500))), PAYLOAD)
    await peer.begin(window=2, max_frame_size=UInt(1024))
    await peer.attach(receiver=True)
    peer.flow(credit=10, window=1)
    first = await peer.expect(Transfer)
    assert (first.delivery_id, first.more) == (0, True)
    assert bus.queue("orders").locked_count == 1
    peer.flow(credit=10, window=100, received=1)
    second = await peer.expect(Transfer)
    assert (second.delivery_id, second.more) == (0, False)
    assert (await peer.expect(Transfer)).delivery_id == 1


async def test_a_frame_is_never_larger_than_the_peer_can_read(
    bus: LocalServiceBus, peer: Peer
) -> None:
    await _put(bus, section(DATA, encode(bytes(5000))))
    await peer.begin(max_frame_size=UInt(512))
    await peer.attach(receiver=True)
    peer.flow(credit=1)
    size = 0
    while True:
        frame = await peer.frame()
        assert isinstance(frame.performative, Transfer)
        assert len(encode_frame(frame.performative, payload=frame.payload)) <= 512
        size += len(frame.payload)
        if not frame.performative.more:
            break
    assert size > 5000


async def test_a_peer_that_reads_slowly_gets_all_in_the_end(
    bus: LocalServiceBus, peer: Peer
) -> None:
    large = WireContent.parse(section(DATA, encode(bytes(250_000))), bus.clock)
    bus.queue("orders").send([large] * 60, bus.clock.now())
    await peer.begin(window=1000)
    await peer.attach(receiver=True)
    peer.flow(credit=100, window=1000)
    while bus.queue("orders").locked_count == 0:  # noqa: ASYNC110 - the server is in this loop
        await asyncio.sleep(0)
    assert bus.queue("orders").locked_count < 60
    whole = 0
    while whole < 60:
        whole += not (await peer.expect(Transfer)).more


async def test_a_drained_link_gets_what_is_there_and_its_credit_back(
    bus: LocalServiceBus, peer: Peer
) -> None:
    await _put(bus, PAYLOAD)
    await peer.begin()
    await peer.attach(receiver=True)
    peer.flow(credit=10, drain=True)
    await peer.expect(Transfer)
    flow = await peer.expect(Flow)
    assert (flow.delivery_count, flow.link_credit, flow.drain) == (10, 0, True)


@pytest.mark.parametrize(
    ("outcome", "code", "delivery_count"),
    [
        (Released(), 0x26, 0),
        (Modified(), 0x27, 1),
        (Modified(delivery_failed=True), 0x27, 1),
    ],
)
async def test_messages_are_given_back_by_range(
    bus: LocalServiceBus, peer: Peer, outcome: Composite, code: int, delivery_count: int
) -> None:
    await _put(bus, PAYLOAD, PAYLOAD)
    await peer.begin()
    await peer.attach(receiver=True)
    peer.flow(credit=2)
    for _ in range(2):
        await peer.expect(Transfer)
    peer.send(Disposition(role=True, first=UInt(0), last=UInt(0xFFFFFFFF), state=outcome))
    for number in range(2):
        answer = await peer.expect(Disposition)
        assert isinstance(answer.state, Described)
        assert (answer.first, answer.settled, answer.state.descriptor) == (number, True, code)
    counts = [message.delivery_count for message in bus.queue("orders").messages]
    assert counts == [delivery_count] * 2


async def test_who_settles_at_once_gets_no_answer(bus: LocalServiceBus, peer: Peer) -> None:
    await _put(bus, PAYLOAD)
    await peer.begin()
    await peer.attach(receiver=True)
    peer.flow(credit=1)
    await peer.expect(Transfer)
    peer.send(Disposition(role=True, first=UInt(0), settled=True, state=Accepted()))
    peer.send(End())
    await peer.expect(End)
    assert bus.queue("orders").messages == ()


async def test_nothing_follows_the_end_of_a_link(bus: LocalServiceBus, peer: Peer) -> None:
    """The rest of a message that waits for the session's window is not sent."""
    await _put(bus, section(DATA, encode(bytes(3000))))
    await peer.begin(window=2, max_frame_size=UInt(512))
    await peer.attach(receiver=True)
    peer.flow(credit=1, window=2)
    for _ in range(2):
        assert (await peer.expect(Transfer)).more
    peer.send(Detach(handle=UInt(0), closed=True))
    await peer.expect(Detach)
    await peer.attach(receiver=True)
    await _put(bus, PAYLOAD)
    peer.flow(credit=1, window=100, received=2)
    transfer = await peer.expect(Transfer)
    assert (transfer.delivery_id, transfer.more) == (1, False)


async def test_a_link_that_has_ended_settles_nothing(bus: LocalServiceBus, peer: Peer) -> None:
    await _put(bus, PAYLOAD)
    await peer.begin()
    await peer.attach(receiver=True)
    peer.flow(credit=1)
    await peer.expect(Transfer)
    peer.send(Detach(handle=UInt(0), closed=True))
    assert (await peer.expect(Detach)).closed
    peer.send(Disposition(role=True, first=UInt(0), state=Accepted()))
    peer.send(End())
    await peer.expect(End)
    assert bus.queue("orders").locked_count == 1


@pytest.mark.parametrize(
    ("receiver", "address", "more", "condition"),
    [
        (True, "missing", {}, "amqp:not-found"),
        (False, "orders/$DeadLetterQueue", {}, "amqp:not-allowed"),
    ],
)
async def test_a_refused_link_leads_nowhere_and_ends(
    peer: Peer, receiver: bool, address: str, more: dict[str, UInt], condition: str
) -> None:
    await peer.begin()
    attached = await peer.attach(receiver=receiver, address=address, **more)
    assert (attached.source, attached.target) == (None, None)
    detach = await peer.expect(Detach)
    assert detach.closed
    assert _error(detach)[0] == condition
    peer.flow(credit=1)
    peer.send(Detach(handle=UInt(0), closed=True))
    assert (await peer.attach(receiver=True)).source is not None


async def test_without_a_token_nothing_opens(bus: LocalServiceBus) -> None:
    async with connected(bus) as peer:
        assert await peer.authenticate(b"\0RootManageSharedAccessKey\0wrong") == 1
        with pytest.raises(EOFError):
            await peer.frame()


@pytest.mark.parametrize(
    ("payload", "condition"),
    [
        (b"junk", "amqp:decode-error"),
        (PAYLOAD + section(MESSAGE_ANNOTATIONS, encode({})) * 2, "amqp:decode-error"),
        (section(MESSAGE_ANNOTATIONS, encode([])), "amqp:decode-error"),
        (section(DELIVERY_ANNOTATIONS, encode_map([encode([]) * 2])), "amqp:decode-error"),
        (section(HEADER, encode([True, "high"])), "amqp:decode-error"),
        (section(HEADER, encode([True, UByte(4), "long"])), "amqp:decode-error"),
        (
            section(MESSAGE_ANNOTATIONS, encode({Symbol("x-opt-scheduled-enqueue-time"): "soon"})),
            "amqp:decode-error",
        ),
    ],
    ids=["junk", "a section twice", "no map", "no key", "priority", "lifetime", "scheduled"],
)
async def test_a_message_that_cannot_be_taken_is_rejected_and_the_link_lives(
    bus: LocalServiceBus, peer: Peer, payload: bytes, condition: str
) -> None:
    await _sending(peer)
    peer.send(*_transfer(payload))
    assert _error(await peer.expect(Disposition))[0] == condition
    peer.send(*_transfer(delivery_id=UInt(1)))
    await peer.expect(Disposition)
    assert bus.queue("orders").active_count == 1


@pytest.mark.parametrize(
    ("sent", "condition"),
    [
        (struct.pack(">IBBH", 1 << 30, 2, 0, 0), "amqp:framing-error"),
        (struct.pack(">IBBH", 12, 2, 0, 0) + b"junk", "amqp:decode-error"),
        (
            encode_frame(
                Begin(next_outgoing_id=UInt(0), incoming_window=UInt(1), outgoing_window=UInt(1))
            ),
            "amqp:not-allowed",
        ),
        (encode_frame(Detach(handle=UInt(7))), "amqp:session:unattached-handle"),
        (encode_frame(Transfer(handle=UInt(7))), "amqp:session:unattached-handle"),
        (encode_frame(Open(container_id="again")), "amqp:not-allowed"),
        (
            encode_frame(Attach(name="n", handle=UInt(256), role=True)),
            "amqp:session:handle-in-use",
        ),
        (
            encode_frame(
                Flow(incoming_window=UInt(0), next_outgoing_id=UInt(0), outgoing_window=UInt(0)),
                channel=9,
            ),
            "amqp:not-allowed",
        ),
        (encode_frame(Accepted()), "amqp:not-allowed"),
    ],
)
async def test_who_breaks_the_protocol_is_told_how_and_disconnected(
    peer: Peer, sent: bytes, condition: str
) -> None:
    await peer.begin()
    peer.writer.write(sent)
    assert _error(await peer.expect(Close))[0] == condition
    with pytest.raises(EOFError):
        await peer.frame()


async def test_a_connection_begins_with_sasl(bus: LocalServiceBus) -> None:
    async with connected(bus) as peer:
        peer.writer.write(AMQP_HEADER)
        assert await peer.header() == SASL_HEADER
        with pytest.raises(EOFError):
            await peer.header()


# ---------------------------------------------------------------- what a client can make wait


def test_there_is_room_again_once_less_waits() -> None:
    calls: list[int] = []
    held = Held(lambda: calls.append(1), limit=10)
    held.add(9)
    held.free(4)
    assert (held.full, calls) == (False, [])
    held.add(5)
    assert held.full
    held.free(1)
    assert (held.full, calls) == (False, [1])


async def test_answers_wait_for_credit_but_not_without_end(
    bus: LocalServiceBus, peer: Peer
) -> None:
    large = WireContent.parse(section(DATA, encode(bytes(250_000))), bus.clock)
    bus.queue("orders").send([large], bus.clock.now())
    await peer.begin()
    await open_node(peer, "orders/$management", credit=0)
    peek = {"from-sequence-number": Long(0), "message-count": Int(1)}
    for _ in range(70):  # 17.5 MB
        ask(peer, peek, operation="com.microsoft:peek-message")
    assert _error(await peer.expect(Detach))[0] == "amqp:resource-limit-exceeded"


async def test_messages_wait_for_their_rest_but_not_without_end(
    bus: LocalServiceBus, peer: Peer
) -> None:
    await peer.begin()
    target = Described(ULong(0x29), ["orders"])
    for number in range(65):
        handle = UInt(number)
        peer.send(Attach(name=f"{number}", handle=handle, role=False, target=target))
        for _ in range(4):  # 260,000 bytes a link, 16.9 MB together
            peer.send(Transfer(handle=handle, delivery_id=UInt(0), more=True), bytes(65_000))
    detach = await _next(peer, Detach)
    assert detach.handle == 64
    assert _error(detach)[0] == "amqp:resource-limit-exceeded"
    peer.send(Detach(handle=UInt(0), closed=True))
    await _next(peer, Detach)
    for more in (True, False):
        peer.send(Transfer(handle=UInt(1), delivery_id=UInt(0), more=more), bytes(1000))
    await _next(peer, Disposition)


async def _next(peer: Peer, kind: type[_T]) -> _T:
    """The next performative of a kind; others are passed over."""
    while not isinstance(found := (await peer.frame()).performative, kind):
        pass
    return found


async def test_many_small_parts_take_no_more_than_their_bytes(
    bus: LocalServiceBus, peer: Peer
) -> None:
    await _sending(peer)
    part = _part(b"xx")
    tracemalloc.start()
    try:
        peer.writer.write(_part(b"") * 2000 + part * 2000)
        peer.flow(credit=0, echo=True)
        while (await peer.expect(Flow)).handle is None:
            pass
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000


async def test_a_connection_has_so_many_links_at_most(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_azure.servicebus.amqp.connection._MAX_LINKS", 1)
    await peer.begin()
    source = Described(ULong(0x28), ["orders"])
    for handle in range(2):
        peer.send(Attach(name=f"{handle}", handle=UInt(handle), role=True, source=source))
        await peer.expect(Attach)
    assert _error(await peer.expect(Detach))[0] == "amqp:resource-limit-exceeded"


async def test_junk_hurts_nobody_else(bus: LocalServiceBus, peer: Peer) -> None:
    """Random bytes at every stage of a connection, with a fixed budget."""
    chance = random.Random(0)  # noqa: S311 - to be the same each time
    begin = Begin(next_outgoing_id=UInt(0), incoming_window=UInt(1), outgoing_window=UInt(1))
    stages = [
        b"",
        SASL_HEADER,
        SASL_HEADER + _sasl_init() + AMQP_HEADER,
        SASL_HEADER
        + _sasl_init()
        + AMQP_HEADER
        + encode_frame(Open(container_id="x"))
        + encode_frame(begin),
    ]
    for number in range(200):
        junk = chance.randbytes(chance.randrange(1, 60))
        framed = struct.pack(">IBBH", 8 + len(junk), 2, 0, 0) + junk
        async with connected(bus) as stranger:
            stranger.writer.write(stages[number % 4] + chance.choice([junk, framed]))
            stranger.writer.write_eof()
            await asyncio.wait_for(stranger.drained(), 5)
    await _sending(peer)
    peer.send(*_transfer())
    await peer.expect(Disposition)


def _sasl_init() -> bytes:
    return encode_frame(SaslInit(mechanism=Symbol("ANONYMOUS")), kind=1)


async def test_a_quiet_peer_is_kept_alive_if_it_asks_for_it(
    bus: LocalServiceBus, peer: Peer
) -> None:
    opened = await peer.begin(idle_time_out=UInt(40))
    assert opened.idle_time_out == 240_000
    assert (await peer.frame()).performative is None


async def test_a_silent_peer_is_disconnected() -> None:
    async with (
        LocalServiceBus({"orders": QueueProperties()}, idle=IdleRules(connection=0.05)) as bus,
        connected(bus) as peer,
    ):
        await peer.authenticate()
        await peer.begin()
        assert _error(await peer.expect(Close))[0] == "amqp:connection:forced"


async def test_a_server_that_stops_says_goodbye() -> None:
    bus = await LocalServiceBus({}).__aenter__()
    async with connected(bus) as peer:
        await peer.authenticate()
        await peer.begin()
        await bus.__aexit__(None, None, None)
        assert _error(await peer.expect(Close))[0] == "amqp:connection:forced"
