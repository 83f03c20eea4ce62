"""Microsoft's unmodified client against the emulator, over real sockets."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageBodyType, AmqpMessageHeader
from azure.servicebus.exceptions import (
    MessageLockLostError,
    MessageSizeExceededError,
    MessagingEntityNotFoundError,
    ServiceBusAuthenticationError,
    ServiceBusError,
)

from emulators.tests.servicebus.conftest import QUICK, WAIT, Ends, connect, ends_of, receive_one
from local_azure.clock import Clock
from local_azure.servicebus import LocalServiceBus, QueueProperties

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage
    from azure.servicebus.aio import ServiceBusClient


def body_of(message: ServiceBusReceivedMessage) -> bytes:
    return b"".join(message.body)


async def test_a_message_arrives_as_it_was_sent_and_is_gone_once_completed(
    bus: LocalServiceBus, ends: Ends
) -> None:
    await ends.send(
        ServiceBusMessage(
            b"body",
            message_id="m1",
            content_type="application/json",
            correlation_id="c",
            subject="s",
            partition_key="p",
            application_properties={"text": "ä", "number": 2**30, "flag": True},
        )
    )
    message = await ends.receive()
    assert body_of(message) == b"body"
    assert (message.message_id, message.content_type) == ("m1", "application/json")
    assert (message.correlation_id, message.subject) == ("c", "s")
    assert message.partition_key == "p"
    assert message.application_properties == {
        b"text": "ä".encode(),
        b"number": 2**30,
        b"flag": True,
    }
    assert (message.delivery_count, message.sequence_number) == (0, 1)
    assert message.enqueued_time_utc is not None
    assert message.enqueued_time_utc.timestamp() == pytest.approx(bus.clock.now(), abs=5)
    (stored,) = bus.queue("orders").messages
    assert stored.lock is not None
    assert message.lock_token == stored.lock.token
    await ends.receiver.complete_message(message)
    assert bus.queue("orders").messages == ()


async def test_sections_of_the_senders_are_handed_on(ends: Ends) -> None:
    await ends.sender.send_messages(
        AmqpAnnotatedMessage(
            value_body={"a": [1, "two"]},
            header=AmqpMessageHeader(priority=7, durable=True),
            annotations={"kept": "a", "x-opt-sequence-number": 99},
            delivery_annotations={"too": "b"},
            footer={"last": "c"},
        )
    )
    message = await ends.receive()
    raw = message.raw_amqp_message
    assert raw.body_type == AmqpMessageBodyType.VALUE
    assert raw.body == {b"a": [1, b"two"]}
    assert raw.header is not None
    assert (raw.header.priority, raw.header.durable) == (7, True)
    assert raw.annotations is not None
    assert raw.annotations[b"kept"] == b"a"
    assert message.sequence_number == 1
    assert raw.delivery_annotations == {b"too": b"b", b"x-opt-lock-token": message.lock_token}
    assert raw.footer == {b"last": b"c"}


async def test_a_batch_arrives_in_order(bus: LocalServiceBus, ends: Ends) -> None:
    batch = await ends.sender.create_message_batch()
    for number in range(120):
        batch.add_message(ServiceBusMessage(b"x", message_id=str(number)))
    await ends.sender.send_messages(batch)
    received: list[str | None] = []
    while len(received) < 120:
        for message in await ends.receiver.receive_messages(50, max_wait_time=WAIT):
            received.append(message.message_id)
            await ends.receiver.complete_message(message)
    assert received == [str(number) for number in range(120)]
    assert len(bus.events.of("completed")) == 120


async def test_size_has_a_limit_and_below_it_any_number_of_frames(
    bus: LocalServiceBus, ends: Ends
) -> None:
    body = bytes(range(256)) * 1020
    await ends.send(ServiceBusMessage(body))
    assert body_of(await ends.receive()) == body
    with pytest.raises(MessageSizeExceededError):
        await ends.send(ServiceBusMessage(bytes(256 * 1024)))
    await ends.send(ServiceBusMessage(b"the sender goes on"))
    assert len(bus.queue("orders").messages) == 2


async def test_an_abandoned_message_comes_again_until_it_is_dead_lettered(
    bus: LocalServiceBus, ends: Ends
) -> None:
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    for count in range(3):
        message = await ends.receive()
        assert message.delivery_count == count
        await ends.receiver.abandon_message(message)
    (event,) = bus.events.of("dead_lettered", entity="orders", key="m")
    assert event.detail == "MaxDeliveryCountExceeded"
    assert [event.detail for event in bus.events.of("delivered")] == ["0", "1", "2"]


async def test_a_dead_letter_has_its_reason_and_can_be_completed(
    bus: LocalServiceBus, client: ServiceBusClient, ends: Ends
) -> None:
    await ends.send(
        ServiceBusMessage(b"x", application_properties={"DeadLetterReason": "stale", "kept": 1})
    )
    await ends.receiver.dead_letter_message(
        await ends.receive(), reason="Invalid", error_description="no total"
    )
    async with client.get_queue_receiver(
        "orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER, prefetch_count=1, **QUICK
    ) as receiver:
        message = await receive_one(receiver)
        assert message.dead_letter_reason == "Invalid"
        assert message.dead_letter_error_description == "no total"
        assert message.dead_letter_source == "orders"
        assert message.application_properties is not None
        assert message.application_properties[b"kept"] == 1
        await receiver.renew_message_lock(message)
        await receiver.complete_message(message)
    assert bus.queue("orders/$DeadLetterQueue").messages == ()


async def test_a_dead_letter_cannot_be_dead_lettered_again(
    client: ServiceBusClient, bus: LocalServiceBus, ends: Ends
) -> None:
    await ends.send(ServiceBusMessage(b"x"))
    await ends.receiver.dead_letter_message(await ends.receive())
    async with client.get_queue_receiver(
        "orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER, prefetch_count=1, **QUICK
    ) as receiver:
        message = await receive_one(receiver)
        with pytest.raises(ServiceBusError, match="cannot be dead-lettered"):
            await receiver.dead_letter_message(message)
    assert bus.queue("orders").dead_letter_count == 1


async def test_a_renewed_lock_outlives_its_first_end(bus: LocalServiceBus, ends: Ends) -> None:
    await ends.send(ServiceBusMessage(b"x", message_id="m"))
    message = await ends.receive()
    bus.clock.advance(40)
    until = await ends.receiver.renew_message_lock(message)
    assert until.timestamp() == pytest.approx(time.time() + 60, abs=5)
    bus.clock.advance(40)
    await ends.receiver.complete_message(message)
    assert [event.name for event in bus.events] == [
        "sent",
        "delivered",
        "lock_renewed",
        "completed",
    ]


async def test_a_lock_that_lapsed_is_lost_and_the_message_comes_again(
    bus: LocalServiceBus, ends: Ends
) -> None:
    await ends.send(ServiceBusMessage(b"x"))
    message = await ends.receive()
    bus.clock.advance(60)
    with pytest.raises(MessageLockLostError):
        await ends.receiver.complete_message(message)
    with pytest.raises(MessageLockLostError):
        await ends.receiver.renew_message_lock(message)
    assert (await ends.receive()).delivery_count == 1


async def test_a_message_expires_after_the_queues_time(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    async with client.get_queue_sender("expiring", **QUICK) as sender:
        await sender.send_messages(ServiceBusMessage(b"x"))
    bus.clock.advance(599)
    assert bus.queue("expiring").active_count == 1
    bus.clock.advance(1)
    assert bus.queue("expiring").dead_letter_count == 1


async def test_a_copy_within_the_window_is_accepted_and_dropped(
    bus: LocalServiceBus, ends: Ends
) -> None:
    await ends.send(
        ServiceBusMessage(b"first", message_id="m"), ServiceBusMessage(b"second", message_id="m")
    )
    assert len(bus.events.of("duplicate_dropped", key="m")) == 1
    bus.clock.advance(20)
    await ends.send(ServiceBusMessage(b"third", message_id="m"))
    bodies = []
    for _ in range(2):
        message = await ends.receive()
        bodies.append(body_of(message))
        await ends.receiver.complete_message(message)
    assert bodies == [b"first", b"third"]


async def test_two_receivers_share_a_queue_and_each_message_is_completed_once(
    bus: LocalServiceBus, client: ServiceBusClient, ends: Ends
) -> None:
    await ends.sender.send_messages(
        [ServiceBusMessage(b"x", message_id=str(number)) for number in range(50)]
    )

    async def work() -> list[str | None]:
        done: list[str | None] = []
        async with client.get_queue_receiver("orders", prefetch_count=5, **QUICK) as receiver:
            while len(bus.events.of("completed")) < 50:
                for message in await receiver.receive_messages(5, max_wait_time=0.05):
                    await receiver.complete_message(message)
                    done.append(message.message_id)
        return done

    await ends.receiver.close()
    first, second = await asyncio.gather(work(), work())
    assert sorted([*first, *second], key=str) == sorted(map(str, range(50)), key=str)
    assert first
    assert second


async def test_what_was_prefetched_is_given_back_on_close(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    async with client.get_queue_sender("orders", **QUICK) as sender:
        await sender.send_messages([ServiceBusMessage(b"x") for _ in range(10)])
        async with client.get_queue_receiver("orders", prefetch_count=20, **QUICK) as receiver:
            await receive_one(receiver)
            assert bus.queue("orders").locked_count == 10
    assert bus.queue("orders").locked_count == 1
    assert len(bus.events.of("released")) == 9
    assert all(message.delivery_count == 0 for message in bus.queue("orders").messages)


async def test_a_killed_clients_messages_stay_locked_until_their_time_is_up(
    bus: LocalServiceBus, client: ServiceBusClient, ends: Ends
) -> None:
    await ends.send(ServiceBusMessage(b"x"))
    await ends.receive()
    for connection in tuple(bus._namespace.connections):
        connection.cut()
    assert bus.queue("orders").locked_count == 1
    bus.clock.advance(60)
    assert bus.queue("orders").active_count == 1


async def test_a_queue_that_is_not_there_is_named(client: ServiceBusClient) -> None:
    sender = client.get_queue_sender("missing", **QUICK)
    receiver = client.get_queue_receiver("missing", prefetch_count=1, **QUICK)
    with pytest.raises(MessagingEntityNotFoundError, match="'missing' could not be found"):
        await sender.send_messages(ServiceBusMessage(b"x"))
    with pytest.raises(MessagingEntityNotFoundError):
        await receiver.receive_messages(1, max_wait_time=WAIT)
    await asyncio.gather(sender.close(), receiver.close())


async def test_a_queue_can_be_looked_into_from_another_thread(
    bus: LocalServiceBus, ends: Ends
) -> None:
    await ends.send(ServiceBusMessage(b"x"))
    await ends.receive()
    bus.clock.advance(60)
    queue = await asyncio.to_thread(bus.queue, "orders")
    assert queue.messages[0].delivery_count == 1


async def test_another_key_is_not_let_in(bus: LocalServiceBus) -> None:
    async with connect(bus, key="another", retry_total=0) as client:
        sender = client.get_queue_sender("orders", **QUICK)
        with pytest.raises(ServiceBusAuthenticationError):
            await sender.send_messages(ServiceBusMessage(b"x"))


async def test_locks_show_the_machines_time_whatever_the_clock_says() -> None:
    clock = Clock(frozen_at=1_000_000_000)
    async with (
        LocalServiceBus({"orders": QueueProperties()}, clock=clock) as bus,
        connect(bus) as client,
        ends_of(client, "orders") as ends,
    ):
        await ends.send(ServiceBusMessage(b"x"))
        message = await ends.receive()
        assert message.locked_until_utc is not None
        assert message.locked_until_utc.timestamp() == pytest.approx(time.time() + 60, abs=5)
        await ends.receiver.complete_message(message)
