"""Links, by hand: idleness, sessions on the wire, and what goes on before a link is open."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from emulators.tests.servicebus.requests_by_hand import answer, ask, jwt, open_node
from local_azure.faults import Delay, Fail
from local_azure.servicebus import IdleRules, LocalServiceBus, QueueProperties, TopicProperties
from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.message import APPLICATION_PROPERTIES, PROPERTIES, section
from local_azure.servicebus.amqp.performatives import (
    Accepted,
    Attach,
    Close,
    Detach,
    Disposition,
    Error,
    Flow,
    Modified,
    Rejected,
    Transfer,
    decode_composite,
)
from local_azure.servicebus.amqp.types import Described, Long, Symbol, UByte, UInt, ULong
from local_azure.servicebus.nodes.content import WireContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_FILTER = Symbol("com.microsoft:session-filter")


@asynccontextmanager
async def _begun(bus: LocalServiceBus) -> AsyncIterator[Peer]:
    async with connected(bus) as peer:
        await peer.authenticate()
        await peer.begin()
        yield peer


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    queues = {
        "orders": QueueProperties(),
        "sessions": QueueProperties(requires_session=True),
        "disabled": QueueProperties(status="Disabled"),
        "forwarding": QueueProperties(forward_to="orders"),
    }
    topics = {"events": TopicProperties()}
    async with LocalServiceBus(queues, topics=topics) as bus:
        yield bus


@pytest.fixture
async def peer(bus: LocalServiceBus) -> AsyncIterator[Peer]:
    async with _begun(bus) as peer:
        yield peer


def _put(bus: LocalServiceBus, queue: str, payload: bytes = PAYLOAD) -> None:
    bus.queue(queue).send([WireContent.parse(payload, bus.clock)], bus.clock.now())


def _of_session(session_id: str) -> bytes:
    return section(PROPERTIES, encode([None] * 10 + [session_id])) + PAYLOAD


def _ask_for(peer: Peer, filters: dict[object, object], address: str = "sessions") -> None:
    source = Described(ULong(0x28), [address, *[None] * 6, filters])
    peer.send(Attach(name="link", handle=UInt(0), role=True, source=source))


async def _refusal(peer: Peer) -> tuple[str, str]:
    """The condition and text that a link is refused with."""
    await peer.expect(Attach)
    error = (await peer.expect(Detach)).error
    assert isinstance(error, Described)
    assert isinstance(error.value, list)
    return error.value[0], error.value[1]


# ---------------------------------------------------------------- opening


async def test_credit_that_is_sent_before_the_link_is_open_counts(
    bus: LocalServiceBus, peer: Peer
) -> None:
    bus.faults.add(Delay(seconds=0.05), operation="attach", entity="orders")
    _put(bus, "orders")
    peer.send(
        Attach(name="n", handle=UInt(0), role=True, source=Described(ULong(0x28), ["orders"]))
    )
    peer.flow(credit=1)
    await peer.expect(Attach)
    await peer.expect(Transfer)


async def test_a_receiver_that_deletes_gets_what_is_settled(
    bus: LocalServiceBus, peer: Peer
) -> None:
    _put(bus, "orders")
    await peer.attach(receiver=True, snd_settle_mode=UByte(1))
    peer.flow(credit=1)
    assert (await peer.expect(Transfer)).settled
    assert bus.queue("orders").messages == ()


# ---------------------------------------------------------------- tokens


@asynccontextmanager
async def _anonymous(bus: LocalServiceBus, ends: dict[str, float]) -> AsyncIterator[Peer]:
    """A client that has put a token for each audience, which ends in so many seconds."""
    async with connected(bus) as peer:
        await peer.authenticate(mechanism="ANONYMOUS")
        await peer.begin()
        await open_node(peer, "$cbs")
        for audience, seconds in ends.items():
            await _put_token(peer, audience, seconds)
        yield peer


async def _put_token(peer: Peer, audience: str, seconds: float) -> int:
    """Puts a token; returns the status of the answer."""
    token = jwt(exp=time.time() + seconds)
    ask(peer, token, name=audience, operation="put-token", type="jwt")
    status = (await answer(peer)).status["status-code"]
    assert isinstance(status, int)
    return status


async def test_a_link_ends_with_its_token(bus: LocalServiceBus) -> None:
    async with _anonymous(bus, {"amqp://host/orders": 0.2}) as peer:
        await peer.attach(receiver=True)
        error = (await peer.expect(Detach)).error
        assert isinstance(error, Described)
        assert isinstance(error.value, list)
        assert error.value[0] == "amqp:unauthorized-access"
        peer.send(Detach(handle=UInt(0), closed=True))
        await peer.attach(receiver=True)
        await peer.expect(Detach)


async def test_who_waits_for_a_session_waits_no_longer_than_the_token_lasts(
    bus: LocalServiceBus,
) -> None:
    async with _anonymous(bus, {"sessions": 0.2}) as peer:
        _ask_for(peer, {_FILTER: None})
        assert (await _refusal(peer))[0] == "amqp:unauthorized-access"


async def test_a_link_goes_on_with_a_new_token(bus: LocalServiceBus) -> None:
    async with _anonymous(bus, {"orders": 0.1, "ORDERS/": 0.1}) as peer:
        await peer.attach(receiver=True)
        assert await _put_token(peer, "orders", 60) == 202
        await asyncio.sleep(0.15)
        peer.flow(credit=1, echo=True)
        await peer.expect(Flow)


@pytest.mark.parametrize(("audience", "status"), [("amqp://[x/orders", 400), ("a" * 1025, 401)])
async def test_a_token_is_for_an_address(bus: LocalServiceBus, audience: str, status: int) -> None:
    async with _anonymous(bus, {}) as peer:
        assert await _put_token(peer, audience, 60) == status


async def test_tokens_are_for_so_many_audiences_at_once(
    bus: LocalServiceBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_azure.servicebus.nodes.cbs._MAX_AUDIENCES", 2)
    async with _anonymous(bus, {}) as peer:
        statuses = [await _put_token(peer, audience, 60) for audience in "aabc"]
        assert statuses == [202, 202, 202, 403]


# ---------------------------------------------------------------- sessions


async def test_a_granted_session_is_named_beside_the_address_as_it_was_asked_for(
    bus: LocalServiceBus, peer: Peer
) -> None:
    _put(bus, "sessions", _of_session("a"))
    _ask_for(peer, {_FILTER: None})
    attached = await peer.expect(Attach)
    assert attached.source is not None
    assert isinstance(attached.source.value, list)
    assert (attached.source.value[0], attached.source.value[7]) == ("sessions", {_FILTER: "a"})
    assert attached.properties is not None
    until = attached.properties["com.microsoft:locked-until-utc"]
    assert isinstance(until, Long)
    assert (until - 621_355_968_000_000_000) / 1e7 == pytest.approx(time.time() + 60, abs=5)


async def test_who_waits_for_a_session_may_send_credit_before_it_comes(
    bus: LocalServiceBus,
) -> None:
    async with _begun(bus) as first, _begun(bus) as second:
        for peer in (first, second):
            _ask_for(peer, {_FILTER: None})
            peer.flow(credit=1)
            peer.send(Attach(name="m", handle=UInt(1), role=True, source=None))
            await peer.expect(Attach)
            await peer.expect(Detach)
        for name in ("a", "b"):
            _put(bus, "sessions", _of_session(name))
        for peer in (first, second):
            await peer.expect(Attach)
            await peer.expect(Transfer)


@pytest.mark.parametrize(
    ("address", "filters", "condition", "told"),
    [
        ("sessions", {}, "amqp:not-allowed", "non-sessionful"),
        ("sessions", {_FILTER: Long(1)}, "amqp:invalid-field", "id is a string"),
        ("orders", {_FILTER: "a"}, "amqp:not-allowed", "does not require sessions"),
        ("orders", {Symbol("apache:filter"): "x"}, "amqp:not-implemented", "apache:filter"),
        ("forwarding", {}, "amqp:not-allowed", "Nothing can be received"),
        ("events", {}, "amqp:not-allowed", "Nothing can be received"),
        ("disabled", {}, "com.microsoft:entity-disabled", "is currently disabled"),
        ("amqp://[x/orders", {}, "amqp:invalid-field", "The address is no URL"),
    ],
)
async def test_a_receiver_that_cannot_be_is_told_why(
    peer: Peer, address: str, filters: dict[object, object], condition: str, told: str
) -> None:
    _ask_for(peer, filters, address)
    refused = await _refusal(peer)
    assert refused[0] == condition
    assert told in refused[1]


async def test_who_gives_up_waiting_for_a_session_gets_none(
    bus: LocalServiceBus, peer: Peer
) -> None:
    _ask_for(peer, {_FILTER: None})
    peer.send(Detach(handle=UInt(0), closed=True))
    assert (await peer.expect(Attach)).source is None
    await peer.expect(Detach)
    _put(bus, "sessions", _of_session("a"))
    _ask_for(peer, {_FILTER: "a"})
    assert (await peer.expect(Attach)).source is not None


async def test_a_session_whose_time_is_up_ends_its_link(bus: LocalServiceBus, peer: Peer) -> None:
    _ask_for(peer, {_FILTER: "a"})
    await peer.expect(Attach)
    bus.clock.advance(60)
    error = (await peer.expect(Detach)).error
    assert isinstance(error, Described)
    assert isinstance(error.value, list)
    assert error.value[0] == "com.microsoft:session-lock-lost"


async def test_who_waits_for_a_session_is_told_when_there_will_be_none(
    bus: LocalServiceBus, peer: Peer
) -> None:
    _ask_for(peer, {_FILTER: None})
    peer.send(Attach(name="m", handle=UInt(1), role=True, source=None))
    await _refusal(peer)
    bus.entities.delete("sessions")
    assert (await _refusal(peer))[0] == "amqp:not-found"


async def test_who_waits_for_a_session_waits_as_long_as_it_says(peer: Peer) -> None:
    source = Described(ULong(0x28), ["sessions", *[None] * 6, {_FILTER: None}])
    timeout: dict[object, object] = {Symbol("com.microsoft:timeout"): UInt(20)}
    peer.send(Attach(name="n", handle=UInt(0), role=True, source=source, properties=timeout))
    assert (await _refusal(peer))[0] == "com.microsoft:timeout"


@pytest.mark.parametrize(("keeps", "named"), [("keep", False), ("drop", True)])
async def test_a_session_of_a_broken_connection_is_kept_or_dropped(
    keeps: str,
    named: bool,
) -> None:
    queues = {"sessions": QueueProperties(requires_session=True)}
    async with LocalServiceBus(
        queues,
        locks_on_connection_loss=keeps,  # type: ignore[arg-type]
    ) as bus:
        async with _begun(bus) as peer:
            _ask_for(peer, {_FILTER: "a"})
            await peer.expect(Attach)
        async with _begun(bus) as peer:
            _ask_for(peer, {_FILTER: "a"})
            assert ((await peer.expect(Attach)).source is not None) is named


# ---------------------------------------------------------------- settling


@pytest.mark.parametrize("defers", [True, False])
async def test_properties_may_be_changed_with_the_settlement(
    bus: LocalServiceBus,
    peer: Peer,
    defers: bool,
) -> None:
    _put(bus, "orders", section(APPLICATION_PROPERTIES, encode({"a": "1", "b": "2"})) + PAYLOAD)
    await peer.attach(receiver=True)
    peer.flow(credit=1)
    await peer.expect(Transfer)
    changed = Modified(
        delivery_failed=True,
        undeliverable_here=defers,
        message_annotations={Symbol("b"): "3", Symbol("c"): Long(4)},
    )
    peer.send(Disposition(role=True, first=UInt(0), state=changed))
    state = (await peer.expect(Disposition)).state
    assert decode_composite(state) == Modified(delivery_failed=True, undeliverable_here=defers)
    (message,) = bus.queue("orders").messages
    assert message.content.application_properties == {"a": "1", "b": "3", "c": 4}
    assert bus.queue("orders").deferred_count == defers
    assert bus.queue("orders").size == message.content.size


async def test_properties_may_be_changed_with_a_dead_letter(
    bus: LocalServiceBus, peer: Peer
) -> None:
    _put(bus, "orders")
    await peer.attach(receiver=True)
    peer.flow(credit=1)
    await peer.expect(Transfer)
    info: dict[object, object] = {"DeadLetterReason": "r", "tries": Long(1)}
    error = Error(condition=Symbol("com.microsoft:dead-letter"), description="d", info=info)
    peer.send(Disposition(role=True, first=UInt(0), state=Rejected(error=error)))
    await peer.expect(Disposition)
    (buried,) = bus.queue("orders/$DeadLetterQueue").messages
    assert buried.dead_letter is not None
    assert (buried.dead_letter.reason, buried.dead_letter.description) == ("r", "d")
    assert buried.content.application_properties == {"tries": 1}


async def test_a_delivery_is_settled_with_an_outcome(bus: LocalServiceBus, peer: Peer) -> None:
    _put(bus, "orders")
    await peer.attach(receiver=True)
    peer.flow(credit=1)
    await peer.expect(Transfer)
    peer.send(Disposition(role=True, first=UInt(0), state=None))
    state = decode_composite((await peer.expect(Disposition)).state)
    assert isinstance(state, Rejected)
    assert bus.queue("orders").locked_count == 1


@pytest.mark.parametrize("operation", ["send", "complete"])
async def test_an_error_of_the_link_ends_it(
    bus: LocalServiceBus, peer: Peer, operation: str
) -> None:
    bus.faults.add(Fail(code="amqp:link:detach-forced"), operation=operation)
    if operation == "send":
        await peer.attach(receiver=False, initial_delivery_count=UInt(0))
        await peer.expect(Flow)
        peer.send(Transfer(handle=UInt(0), delivery_id=UInt(0), delivery_tag=b"0"), PAYLOAD)
    else:
        _put(bus, "orders")
        await peer.attach(receiver=True)
        peer.flow(credit=1)
        await peer.expect(Transfer)
        peer.send(Disposition(role=True, first=UInt(0), state=Accepted()))
    error = (await peer.expect(Detach)).error
    assert isinstance(error, Described)
    assert isinstance(error.value, list)
    assert error.value[0] == "amqp:link:detach-forced"


# ---------------------------------------------------------------- idleness


@asynccontextmanager
async def _impatient(idle: IdleRules) -> AsyncIterator[Peer]:
    async with (
        LocalServiceBus({"orders": QueueProperties()}, idle=idle) as bus,
        _begun(bus) as peer,
    ):
        yield peer


async def test_a_link_over_which_nothing_goes_is_ended() -> None:
    async with _impatient(IdleRules(link=0.1)) as peer:
        await peer.attach(receiver=True)
        await asyncio.sleep(0.06)
        peer.flow(credit=1)
        before = time.monotonic()
        error = (await peer.expect(Detach)).error
        assert time.monotonic() - before > 0.08
        assert isinstance(error, Described)
        assert isinstance(error.value, list)
        assert error.value[0] == "amqp:link:detach-forced"
        peer.send(Detach(handle=UInt(0), closed=True))
        await peer.attach(receiver=True)


@pytest.mark.parametrize("first", [True, False])
async def test_a_connection_without_links_is_ended(first: bool) -> None:
    idle = IdleRules(first_link=0.05) if first else IdleRules(no_links=0.05)
    async with _impatient(idle) as peer:
        if not first:
            await peer.attach(receiver=True)
            peer.send(Detach(handle=UInt(0), closed=True))
            await peer.expect(Detach)
        error = (await peer.expect(Close)).error
        assert isinstance(error, Described)
        assert isinstance(error.value, list)
        assert error.value[0] == "amqp:connection:forced"
        assert "more than the allowed 50 milliseconds" in error.value[1]


async def test_a_connection_with_a_link_stays() -> None:
    async with _impatient(IdleRules(first_link=0.05, no_links=0.05)) as peer:
        await peer.attach(receiver=True)
        await asyncio.sleep(0.1)
        peer.flow(credit=1, echo=True)
        await peer.frame()
