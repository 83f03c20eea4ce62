"""Sends messages to a queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import MessageSizeExceededError

from idempotent_consumer.servicebus.client import POLL, know_platform
from idempotent_consumer.servicebus.diagnosis import QueueAddress, Role, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from azure.servicebus.aio import ServiceBusClient, ServiceBusSender

    from idempotent_consumer.servicebus.diagnosis import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message to be sent; the names are Service Bus's own."""

    message_id: str
    body: bytes
    subject: str | None = None
    content_type: str = "application/json"
    correlation_id: str | None = None
    session_id: str | None = None
    properties: Mapping[str, str | int | float | bool] = field(default_factory=dict)


class SendFailed(Exception):
    """Messages were not sent, or nobody knows.

    Attributes:
        sent: How many of them the queue has certainly taken, the first ones.
        diagnosis: Why it took no more.
    """

    def __init__(self, address: QueueAddress, diagnosis: Diagnosis, *, sent: int, of: int) -> None:
        advice = f"; {diagnosis.advice}" if diagnosis.advice else ""
        super().__init__(f"{sent} of {of} messages sent to {address}: {diagnosis.cause}{advice}")
        self.sent = sent
        self.diagnosis = diagnosis


async def send(
    client: ServiceBusClient,
    queue: str,
    messages: Iterable[OutgoingMessage],
    *,
    client_id: str | None = None,
) -> None:
    """Sends messages in their order, in as few batches as possible.

    Args:
        client_id: Of the identity in use, where one is configured; for advice.

    Raises:
        SendFailed: The queue did not take all of them.
        ValueError: A message id is blank or longer than 128 characters.
    """
    outgoing = [_to_sdk(message) for message in messages]
    sent = 0
    await know_platform()
    try:
        # Without a keep-alive: its task would hold up closing for a second.
        async with client.get_queue_sender(queue, socket_timeout=POLL, keep_alive=0) as sender:
            while sent < len(outgoing):
                sent += await _send_batch(sender, outgoing[sent:])
    except Exception as error:
        address = QueueAddress.of(client, queue, client_id)
        diagnosis = diagnose(error, address, Role.SENDER)
        raise SendFailed(address, diagnosis, sent=sent, of=len(outgoing)) from error


async def _send_batch(sender: ServiceBusSender, messages: Sequence[ServiceBusMessage]) -> int:
    """Sends as many of the messages as one batch holds, and returns how many.

    A message goes by itself where a batch would hold no other: it may be larger than a batch.
    """
    batch = await sender.create_message_batch()
    for message in messages:
        try:
            batch.add_message(message)
        except MessageSizeExceededError:
            break
    if len(batch) <= 1:
        await sender.send_messages(messages[0])
        return 1
    await sender.send_messages(batch)
    return len(batch)


def _to_sdk(message: OutgoingMessage) -> ServiceBusMessage:
    if not message.message_id.strip():
        raise ValueError("a blank message id would be replaced by a random one")
    return ServiceBusMessage(
        message.body,
        message_id=message.message_id,
        subject=message.subject,
        content_type=message.content_type,
        correlation_id=message.correlation_id,
        session_id=message.session_id,
        application_properties=dict(message.properties.items()),
    )
