"""Faults, and what Microsoft's client makes of each."""

from __future__ import annotations

import asyncio
import gc
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import (
    MessageLockLostError,
    ServiceBusAuthenticationError,
    ServiceBusAuthorizationError,
    ServiceBusServerBusyError,
)

from emulators.tests.servicebus.conftest import QUICK, Ends, connect, ends_of
from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from local_azure.faults import Delay, Drop, Fail, Hang, Lapse, Overtake
from local_azure.servicebus import LocalServiceBus, QueueProperties
from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.message import PROPERTIES, section, split
from local_azure.servicebus.amqp.performatives import Transfer
from local_azure.servicebus.amqp.types import UByte
from local_azure.servicebus.nodes.content import WireContent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local_azure.faults import Action


pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
"""The SDK leaves a socket whose peer has gone to the garbage collector."""


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Lets no other test bear that."""
    yield
    gc.collect()


def send_to(bus: LocalServiceBus, *message_ids: str) -> None:
    encoded = [section(PROPERTIES, encode([name])) + PAYLOAD for name in message_ids]
    contents = [WireContent.parse(each, bus.clock) for each in encoded]
    bus.queue("orders").send(contents, bus.clock.now())


async def listen(peer: Peer, **more: Any) -> None:
    await peer.authenticate()
    await peer.begin()
    await peer.attach(receiver=True, **more)
    peer.flow(credit=10)


async def delivered(peer: Peer) -> str:
    """The MessageId of the next delivery."""
    frame = await peer.frame()
    assert isinstance(frame.performative, Transfer)
    return str(split(frame.payload).decoded(PROPERTIES, list)[0])


async def test_a_complete_that_was_applied_looks_like_a_lost_lock_after_a_drop(
    bus: LocalServiceBus, ends: Ends
) -> None:
    bus.faults.add(Drop(applied=True), operation="complete", key="m")
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    message = await ends.receive()
    with pytest.raises(MessageLockLostError):
        await ends.receiver.complete_message(message)
    assert bus.queue("orders").messages == ()
    assert len(bus.events.of("completed")) == 1
    (dropped,) = bus.events.of("connection_dropped")
    assert (dropped.entity, dropped.key, dropped.detail) == ("orders", "m", "complete")


async def test_settlements_that_were_not_applied_succeed_through_the_management_node(
    bus: LocalServiceBus, ends: Ends
) -> None:
    for operation in ("abandon", "complete", "dead_letter"):
        bus.faults.add(Drop(applied=False), operation=operation)
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    await ends.receiver.abandon_message(await ends.receive())
    again = await ends.receive()
    assert (again.message_id, again.delivery_count) == ("m", 1)
    await ends.receiver.complete_message(again)
    await ends.send(ServiceBusMessage(b"y"))
    await ends.receiver.dead_letter_message(await ends.receive(), reason="r", error_description="d")
    assert bus.queue("orders").messages == ()
    (buried,) = bus.queue("orders/$DeadLetterQueue").messages
    assert buried.dead_letter is not None
    assert (buried.dead_letter.reason, buried.dead_letter.description) == ("r", "d")
    assert len(bus.events.of("connection_dropped")) == 3


async def test_a_message_whose_lock_lapses_at_once_is_handed_out_twice(
    bus: LocalServiceBus, ends: Ends
) -> None:
    bus.faults.add(Lapse(), operation="deliver")
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    first, second = await ends.receive(), await ends.receive()
    assert (first.delivery_count, second.delivery_count) == (0, 1)
    assert first.sequence_number == second.sequence_number
    await ends.receiver.complete_message(second)
    with pytest.raises(MessageLockLostError):
        await ends.receiver.complete_message(first)


async def test_a_lock_may_lapse_just_before_its_holder_settles(
    bus: LocalServiceBus, ends: Ends
) -> None:
    bus.faults.add(Lapse(), operation="complete")
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    with pytest.raises(MessageLockLostError):
        await ends.receiver.complete_message(await ends.receive())
    assert (await ends.receive()).delivery_count == 1


async def test_deliveries_wear_out_where_every_lock_lapses(
    bus: LocalServiceBus, ends: Ends
) -> None:
    bus.faults.add(Lapse(), operation="deliver", times=None)
    limit = bus.queue("orders").properties.max_delivery_count
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    for _ in range(limit):
        await ends.receive()
    (buried,) = bus.queue("orders/$DeadLetterQueue").messages
    assert buried.dead_letter is not None
    assert buried.dead_letter.reason == "MaxDeliveryCountExceeded"


async def test_a_message_is_delivered_after_the_one_behind_it(
    bus: LocalServiceBus, ends: Ends
) -> None:
    bus.faults.add(Overtake(), operation="deliver", key="a")
    await ends.send(*(ServiceBusMessage(b"x", message_id=name) for name in "abc"))
    assert [(await ends.receive()).message_id for _ in range(3)] == ["b", "a", "c"]


async def test_duplicate_detection_forgets_an_id_on_order(bus: LocalServiceBus, ends: Ends) -> None:
    bus.faults.add(Lapse(), operation="send", key="m", skip=1)
    for body in (b"one", b"another", b"dropped"):
        await ends.send(ServiceBusMessage(body, message_id="m"))
    assert [str(await ends.receive()) for _ in range(2)] == ["one", "another"]
    assert len(bus.events.of("duplicate_dropped")) == 1


async def test_with_dropped_locks_the_fallback_finds_the_lock_lost() -> None:
    queues = {"orders": QueueProperties()}
    async with (
        LocalServiceBus(queues, locks_on_connection_loss="drop") as bus,
        connect(bus) as client,
        ends_of(client, "orders") as ends,
    ):
        bus.faults.add(Drop(applied=False), operation="complete")
        await ends.send(ServiceBusMessage(b"x"))
        message = await ends.receive()
        with pytest.raises(MessageLockLostError):
            await ends.receiver.complete_message(message)
        assert (await ends.receive()).delivery_count == 1


async def test_a_lock_may_lapse_before_the_fallback_comes() -> None:
    queues = {"orders": QueueProperties(lock_duration=timedelta(seconds=0.3))}
    async with (
        LocalServiceBus(queues) as bus,
        connect(bus) as client,
        ends_of(client, "orders") as ends,
    ):
        bus.faults.add(Drop(applied=False), operation="complete")
        await ends.send(ServiceBusMessage(b"x"))
        message = await ends.receive()
        with pytest.raises(MessageLockLostError):
            await ends.receiver.complete_message(message)
        assert (await ends.receive()).delivery_count == 1


async def test_a_send_is_repeated_after_a_drop_and_duplicate_detection_drops_the_copy(
    bus: LocalServiceBus, ends: Ends
) -> None:
    bus.faults.add(Drop(applied=True), operation="send")
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    assert len(bus.events.of("sent")) == 1
    assert len(bus.events.of("duplicate_dropped", key="m")) == 1


async def test_a_failure_may_hide_that_the_send_was_applied(bus: LocalServiceBus) -> None:
    bus.faults.add(Fail(code="com.microsoft:server-busy", applied=True), operation="send")
    async with (
        connect(bus, retry_total=0) as client,
        client.get_queue_sender("orders", **QUICK) as sender,
    ):
        with pytest.raises(ServiceBusServerBusyError):
            await sender.send_messages(ServiceBusMessage(b"x"))
    assert bus.queue("orders").active_count == 1


async def test_settlements_and_renewals_may_be_told_that_the_lock_is_lost(
    bus: LocalServiceBus, ends: Ends
) -> None:
    for operation in ("complete", "renew"):
        bus.faults.add(Fail(code="com.microsoft:message-lock-lost"), operation=operation)
    await ends.send(ServiceBusMessage(b"x"))
    message = await ends.receive()
    with pytest.raises(MessageLockLostError):
        await ends.receiver.renew_message_lock(message)
    with pytest.raises(MessageLockLostError):
        await ends.receiver.complete_message(message)
    assert bus.queue("orders").locked_count == 1


async def test_a_delivery_may_be_lost_on_its_way(bus: LocalServiceBus, ends: Ends) -> None:
    bus.faults.add(Drop(applied=True), operation="deliver", key="m")
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    waiting = asyncio.create_task(ends.receive())
    while not bus.events.of("connection_dropped"):  # noqa: ASYNC110 - the log has no event
        await asyncio.sleep(0.001)
    assert bus.queue("orders").locked_count == 1
    bus.clock.advance(60)
    assert (await waiting).delivery_count == 1


async def test_a_delivery_that_was_lost_is_given_back_where_locks_are_dropped() -> None:
    async with (
        LocalServiceBus({"orders": QueueProperties()}, locks_on_connection_loss="drop") as bus,
        connect(bus) as client,
        ends_of(client, "orders") as ends,
    ):
        bus.faults.add(Drop(applied=True), operation="deliver")
        await ends.send(ServiceBusMessage(b"x"))
        assert (await ends.receive()).delivery_count == 1


async def test_others_follow_a_delivery_that_is_late(bus: LocalServiceBus) -> None:
    bus.faults.add(Delay(seconds=0.05), operation="deliver", key="b")
    async with connected(bus) as peer:
        send_to(bus, "a", "b", "c")
        await listen(peer)
        assert [await delivered(peer) for _ in range(3)] == ["a", "b", "c"]


@pytest.mark.parametrize("applied", [True, False])
async def test_others_are_delivered_instead_of_one_that_hangs(
    bus: LocalServiceBus, applied: bool
) -> None:
    hung = bus.faults.add(Hang(applied=applied), operation="deliver", key="a")
    send_to(bus, "a", "b", "c")
    async with connected(bus) as peer:
        await listen(peer)
        assert [await delivered(peer) for _ in range(2)] == ["b", "c"]
        assert bus.queue("orders").locked_count == 2 + applied
        assert hung.hits == 1
    if applied:
        bus.clock.advance(60)
    async with connected(bus) as peer:
        await listen(peer)
        assert await delivered(peer) == "a"


async def test_what_means_nothing_to_a_delivery_does_not_strike(bus: LocalServiceBus) -> None:
    overtaken = bus.faults.add(Overtake(), operation="deliver")
    lapsed = bus.faults.add(Lapse(), operation="deliver")
    send_to(bus, "alone")
    async with connected(bus) as peer:
        await listen(peer, snd_settle_mode=UByte(1))
        assert await delivered(peer) == "alone"
    assert (overtaken.hits, lapsed.hits) == (0, 0)


async def test_a_batch_is_befallen_by_what_matches_any_of_its_messages(
    bus: LocalServiceBus, ends: Ends
) -> None:
    faults = [
        bus.faults.add(Lapse(), operation="send", key="b"),
        bus.faults.add(Lapse(), operation="send", where=lambda operation: operation.key == "c"),
    ]
    missed = bus.faults.add(Lapse(), operation="send", key="d")
    batch = [ServiceBusMessage(b"x", message_id=name) for name in "abc"]
    for _ in range(3):
        await ends.sender.send_messages(batch)
    assert [fault.hits for fault in (*faults, missed)] == [1, 1, 0]
    assert bus.queue("orders").active_count + bus.queue("orders").locked_count == 6


async def test_a_receiver_that_is_detached_comes_back(bus: LocalServiceBus, ends: Ends) -> None:
    bus.faults.add(Fail(code="amqp:link:detach-forced"), operation="deliver")
    await ends.send(ServiceBusMessage(b"x"))
    assert (await ends.receive()).delivery_count == 0


async def test_a_settlement_may_never_be_answered(bus: LocalServiceBus, ends: Ends) -> None:
    bus.faults.add(Hang(applied=True), operation="complete")
    await ends.send(ServiceBusMessage(b"x"))
    message = await ends.receive()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ends.receiver.complete_message(message), 0.1)
    assert bus.queue("orders").messages == ()


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        ("authenticate", ServiceBusAuthenticationError),
        ("attach", ServiceBusAuthorizationError),
    ],
)
async def test_entry_may_be_denied(
    bus: LocalServiceBus, operation: str, error: type[Exception]
) -> None:
    bus.faults.add(Fail(code="amqp:unauthorized-access"), operation=operation, entity="orders")
    async with connect(bus, retry_total=0) as client:
        sender = client.get_queue_sender("orders", **QUICK)
        with pytest.raises(error):
            await sender.send_messages(ServiceBusMessage(b"x"))
        await sender.close()
    assert bus.queue("orders").messages == ()


@pytest.mark.parametrize(
    ("action", "operation"),
    [
        (Drop(applied=True), "complet"),
        (Overtake(), "send"),
        (Lapse(), "attach"),
        (Fail(code=500), "send"),
    ],
    ids=str,
)
def test_a_fault_that_could_never_strike_is_refused(action: Action, operation: str) -> None:
    with pytest.raises(ValueError, match="here"):
        LocalServiceBus({}).faults.add(action, operation=operation)
