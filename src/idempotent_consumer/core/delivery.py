"""What the broker hands over, and what a handler sees of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
JsonObject = dict[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One hand-over of a message by the broker.

    Attributes:
        message_id: The broker's MessageId, as the sender set it.
        body: The raw bytes; ``None`` where the message carries no bytes or text.
        lock_token: Names the lock under which it was handed over.
        delivery_count: 1 on the first delivery, on every host.
        sequence_number: The broker's number of this copy of the message.
        enqueued_time: When the broker accepted this copy.
        subject: The message's type.
        properties: The application properties, names as text.
    """

    message_id: str | None
    body: bytes | None
    lock_token: str
    delivery_count: int
    sequence_number: int | None = None
    enqueued_time: datetime | None = None
    subject: str | None = None
    content_type: str | None = None
    correlation_id: str | None = None
    session_id: str | None = None
    properties: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a handler sees of a delivery, besides the decoded body.

    Attributes:
        key: What identifies the logical message; stays the same in every copy.
        type: The message's Subject; of a CloudEvent, its type.
        properties: The application properties; a CloudEvent's attributes too, by their names.
        enqueued_time: When the broker accepted this copy; other copies have other times.
    """

    key: str
    message_id: str | None = None
    type: str | None = None
    correlation_id: str | None = None
    session_id: str | None = None
    enqueued_time: datetime | None = None
    properties: Mapping[str, object] = field(default_factory=dict)
