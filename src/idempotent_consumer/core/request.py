"""A delivery that was read: who asks, for what, and where the answer would be recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from idempotent_consumer.core.marker import Marker
from idempotent_consumer.core.request_hash import TAG, RequestHash, Selection

if TYPE_CHECKING:
    from datetime import datetime

    from idempotent_consumer.core.delivery import Delivery, Message
    from idempotent_consumer.core.payload import Payload
    from idempotent_consumer.core.request_hash import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a marker lives: an encoded id in a logical partition of the consumer's container."""

    partition: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one delivery asks of one consumer.

    Attributes:
        consumer: The consumer's name; with the key it makes the identity.
        place: Where its marker lives.
    """

    consumer: str
    key: str
    place: Place
    delivery: Delivery
    message: Message
    payload: Payload
    selection: Selection
    content: Content
    digest: str

    def content_under(self, selection: Selection) -> Content:
        """What another selection covers of this request."""
        if selection == self.selection:
            return self.content
        return selection.content(self.payload)

    def marker(self, token: str, now: datetime) -> Marker:
        """The marker that one attempt to apply this request would write."""
        return Marker(
            consumer=self.consumer,
            key=self.key,
            request_hash=RequestHash(tag=TAG, selection=self.selection, digest=self.digest),
            token=token,
            committed_at=now,
            sequence_number=self.delivery.sequence_number,
            enqueued_time=self.delivery.enqueued_time,
            field_digests=self.content.field_digests(token),
        )
