"""A message as the SDK hands it over, as a `Delivery`.

The SDK's decoder makes bytes of text, symbols and binary alike, so bytes are read as text
wherever text belongs. Nothing here raises: whatever a sender may put into a message must
reach the engine, which rejects it with a reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from azure.servicebus.amqp import AmqpMessageBodyType

from idempotent_consumer.core.delivery import Delivery

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage
    from azure.servicebus.amqp import AmqpAnnotatedMessage


def to_delivery(message: ServiceBusReceivedMessage) -> Delivery:
    """The delivery that a received message is."""
    raw = message.raw_amqp_message
    sent = raw.properties
    return Delivery(
        message_id=None if sent is None else _text(sent.message_id),
        body=_body(raw),
        lock_token=str(message.lock_token),
        delivery_count=(message.delivery_count or 0) + 1,
        sequence_number=message.sequence_number,
        enqueued_time=message.enqueued_time_utc,
        subject=None if sent is None else _text(sent.subject),
        content_type=None if sent is None else _text(sent.content_type),
        correlation_id=None if sent is None else _text(sent.correlation_id),
        session_id=None if sent is None else _text(sent.group_id),
        properties={
            _name(name): _value(value) for name, value in (raw.application_properties or {}).items()
        },
    )


def _body(raw: AmqpAnnotatedMessage) -> bytes | None:
    match raw.body_type, raw.body:
        case AmqpMessageBodyType.DATA, sections:
            return _joined(list(sections))
        case AmqpMessageBodyType.VALUE, bytes(value):
            return value
        case AmqpMessageBodyType.VALUE, str(value):
            return value.encode(errors="surrogatepass")
        case _:
            return None


def _joined(sections: list[object]) -> bytes | None:
    """What calls itself data may hold any type: the SDK's decoder does not look."""
    parts = [section for section in sections if isinstance(section, bytes)]
    return b"".join(parts) if len(parts) == len(sections) else None


def _text(value: object) -> str | None:
    return None if value is None else _name(value)


def _name(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _value(value: object) -> object:
    """As a sender in JSON would write it; bytes that are no text stay bytes."""
    if isinstance(value, UUID):
        return str(value)
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
