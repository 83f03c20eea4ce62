"""CloudEvents on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from idempotent_consumer import CloudEvent, Consumer, Container, Create, Entity, Message, Writes
from tests.acceptance.shop import order

if TYPE_CHECKING:
    from tests.acceptance.shop import Shop

EVENT = {"specversion": "1.0", "source": "/shop/eu", "id": "42", "type": "order.created"}
STRUCTURED = "application/cloudevents+json"


def envelope(data: dict[str, Any], time: str) -> dict[str, Any]:
    return {**EVENT, "time": time, "data": data}


def binary() -> dict[str, Any]:
    return {f"cloudEvents:{name}": value for name, value in EVENT.items()}


def event_consumer() -> Consumer:
    consumer = Consumer(
        "events", Container("shop/orders", "/orderId"), marker=Entity(), key=CloudEvent()
    )

    @consumer.handler(dict, type="order.created")
    def record(data: dict[str, Any], message: Message) -> Writes:
        return [Create({"type": message.type, "order": data["orderId"]})]

    return consumer


async def test_an_event_is_applied_once_whichever_way_and_under_whichever_ids_it_comes(
    shop: Shop,
) -> None:
    """For events that follow the CloudEvents specification, the source and id attribute combination uniquely identifies an event and stays stable across redeliveries."""  # noqa: E501
    shop.consumer = event_consumer()
    async with shop.worker():
        await shop.send(envelope(order(), "10:00"), "m-1", content_type=STRUCTURED)
        await shop.completed(key="m-1")
        await shop.send(envelope(order(), "10:05"), "m-2", content_type=STRUCTURED)
        await shop.send(order(), "m-3", application_properties=binary())
        await shop.completed(key="m-2")
        await shop.completed(key="m-3")
        await shop.send(envelope(order(currency="USD"), "10:10"), "m-4", content_type=STRUCTURED)
        await shop.dead_lettered(key="m-4")
    (stored,) = shop.documents()
    assert stored["order"] == "ord-1001"
    assert stored["idempotency"]["key"] == '["/shop/eu","42"]'
    (letter,) = await shop.dead_letters()
    assert letter.dead_letter_reason == "RequestHashMismatch"
    assert "differing: currency" in (letter.dead_letter_error_description or "")
