"""Faults, and what Microsoft's client makes of each."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import (
    MessageLockLostError,
    ServiceBusAuthenticationError,
    ServiceBusAuthorizationError,
    ServiceBusServerBusyError,
)

from emulators.tests.servicebus.conftest import QUICK, Ends, connect, ends_of
from local_azure.faults import Delay, Drop, Fail, Hang, Lapse, Overtake
from local_azure.servicebus import LocalServiceBus, QueueProperties


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


async def test_a_delivery_may_be_late_or_never_come(bus: LocalServiceBus, ends: Ends) -> None:
    late = bus.faults.add(Delay(seconds=0.05), operation="deliver")
    await ends.send(ServiceBusMessage(b"x"))
    await ends.receiver.complete_message(await ends.receive())
    assert late.hits == 1
    bus.faults.add(Hang(applied=False), operation="deliver")
    await ends.send(ServiceBusMessage(b"y"))
    assert await ends.receiver.receive_messages(1, max_wait_time=0.1) == []
    assert bus.queue("orders").active_count == 1


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
