"""Sending to and receiving from an emulated queue, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.servicebus.client import client_from_connection_string
from idempotent_consumer.servicebus.delivery import to_delivery
from idempotent_consumer.servicebus.receiver import QueueReceiver
from idempotent_consumer.servicebus.sender import OutgoingMessage, SendFailed, send
from local_azure.faults import Fail
from tests.hosts.emulated import QUEUE, local_bus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus.aio import ServiceBusClient

    from local_azure.servicebus import LocalServiceBus

KIBI = 1024


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    async with local_bus() as bus:
        yield bus


@pytest.fixture
async def client(bus: LocalServiceBus) -> AsyncIterator[ServiceBusClient]:
    async with client_from_connection_string(bus.connection_string) as client:
        yield client


async def test_what_is_sent_arrives_as_a_delivery(client: ServiceBusClient) -> None:
    sent = OutgoingMessage(
        message_id="ord-\u00e9",
        body=b'{"orderId": "ord-1"}',
        subject="OrderCreated",
        correlation_id="trace",
        properties={"origin": "web", "attempt": 3},
    )
    await send(client, QUEUE, [sent])
    receiver = QueueReceiver(client, QUEUE)
    (message,) = await receiver.receive(1, 5)
    await receiver.close()
    delivery = to_delivery(message)
    assert delivery.message_id == sent.message_id
    assert delivery.body == sent.body
    assert delivery.subject == sent.subject
    assert delivery.content_type == "application/json"
    assert delivery.correlation_id == sent.correlation_id
    assert delivery.properties == sent.properties
    assert (delivery.delivery_count, delivery.sequence_number) == (1, 1)
    assert delivery.enqueued_time is not None


async def test_more_than_a_batch_holds_is_sent_in_order(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    sizes = [100, 100, 100, 200, 255, 1, 1]
    await send(
        client,
        QUEUE,
        [
            OutgoingMessage(message_id=f"{number}", body=b"x" * (size * KIBI))
            for number, size in enumerate(sizes)
        ],
    )
    sent = [message.message_id for message in bus.queue(QUEUE).messages]
    assert sent == [f"{number}" for number in range(len(sizes))]


async def test_what_a_queue_does_not_take_is_told_with_how_much_it_took(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    messages = [
        OutgoingMessage(message_id="small", body=b"{}"),
        OutgoingMessage(message_id="large", body=b"x" * (300 * KIBI)),
    ]
    with pytest.raises(SendFailed, match=r"1 of 2 messages sent to queue 'orders' .*: too large"):
        await send(client, QUEUE, messages)
    assert bus.queue(QUEUE).active_count == 1


async def test_sending_to_a_queue_that_is_not_there_says_how_to_create_it(
    client: ServiceBusClient,
) -> None:
    with pytest.raises(SendFailed, match="az servicebus queue create --name nowhere") as caught:
        await send(client, "nowhere", [OutgoingMessage(message_id="a", body=b"{}")])
    assert caught.value.diagnosis.cause == "not found"


async def test_a_throttled_send_is_sent_again(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    bus.faults.add(Fail(code="com.microsoft:server-busy"), operation="send")
    await send(client, QUEUE, [OutgoingMessage(message_id="a", body=b"{}")])
    assert bus.queue(QUEUE).active_count == 1


async def test_receiving_is_over_once_all_have_come(client: ServiceBusClient) -> None:
    messages = [OutgoingMessage(message_id=f"{number}", body=b"{}") for number in range(3)]
    await send(client, QUEUE, messages)
    receiver = QueueReceiver(client, QUEUE)
    received = await receiver.receive(2, 30)
    received += await receiver.receive(1, 30)
    assert [message.message_id for message in received] == ["0", "1", "2"]
    assert await receiver.receive(1, 0.01) == []
    await receiver.close()
