"""Deliveries and requests that the tests of the core share."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from idempotent_consumer.core.consumer import Consumer, Container
from idempotent_consumer.core.delivery import Delivery
from idempotent_consumer.core.entity import Entity
from idempotent_consumer.core.writes import Create

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonObject, Message
    from idempotent_consumer.core.writes import Writes

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ORDER: JsonObject = {"orderId": "ord-1001", "currency": "EUR", "total": 39.98}


def delivery(body: object = ORDER, message_id: str | None = "ord-1001", **more: Any) -> Delivery:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    defaults = {"lock_token": "lock", "delivery_count": 1, "sequence_number": 7}
    return Delivery(message_id=message_id, body=raw, **{**defaults, **more})


def order_consumer(**options: Any) -> Consumer:
    declared: dict[str, Any] = {
        "container": Container("shop/orders", "/orderId"),
        "marker": Entity(),
    }
    consumer = Consumer("order-processor", **declared | options)

    @consumer.handler(dict)
    def create(order: dict[str, Any], message: Message) -> Writes:
        return [Create(order)]

    return consumer
