"""A message as the Functions host hands it over, as a `Delivery`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from idempotent_consumer.core.delivery import Delivery

if TYPE_CHECKING:
    import azure.functions as func


def to_delivery(message: func.ServiceBusMessage) -> Delivery:
    """The delivery that an invocation is about.

    The host leaves out what a message does not have, the MessageId included. It counts
    deliveries from 1. Property values have been through JSON.
    """
    return Delivery(
        message_id=message.message_id,
        body=message.get_body(),
        lock_token=message.lock_token or "",
        delivery_count=message.delivery_count or 1,
        sequence_number=message.sequence_number,
        enqueued_time=message.enqueued_time_utc,
        subject=message.subject,
        content_type=message.content_type,
        correlation_id=message.correlation_id,
        session_id=message.session_id,
        properties=message.application_properties or {},
    )
