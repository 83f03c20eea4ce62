"""The shop's consumers."""

from __future__ import annotations

from idempotent_consumer import Consumer, Container, Create, Entity, Message, Writes
from shop.domain import Order

orders = Consumer("order-processor", Container("shop/orders", "/orderId"), marker=Entity())


@orders.handler(Order.model_validate)
def place_order(order: Order, message: Message) -> Writes:
    """An order and its lines, in one batch."""
    return [Create(order.document()), *(Create(line) for line in order.line_documents())]
