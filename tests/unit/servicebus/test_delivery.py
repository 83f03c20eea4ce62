"""Received messages become deliveries, whatever a sender has put into them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus._pyamqp.message import Header, Message, Properties
from azure.servicebus._pyamqp.performatives import TransferFrame
from hypothesis import given
from hypothesis import strategies as st

from idempotent_consumer.servicebus.delivery import to_delivery

TOKEN = UUID("01234567-89ab-cdef-0123-456789abcdef")


def received(
    *, properties: dict[str, Any] | None = None, delivery_count: int | None = 0, **sections: Any
) -> ServiceBusReceivedMessage:
    """A message as the SDK decodes it: text is bytes."""
    message = Message(
        header=None if delivery_count is None else Header(delivery_count=delivery_count),
        properties=None if properties is None else Properties(**properties),
        **sections,
    )
    frame = TransferFrame(handle=0, delivery_id=1, delivery_tag=TOKEN.bytes_le)
    return ServiceBusReceivedMessage(message, receiver=None, frame=frame)


@pytest.mark.case("CE-06")
def test_everything_a_sender_and_the_broker_say_arrives() -> None:
    delivery = to_delivery(
        received(
            data=[b"{}"],
            delivery_count=2,
            properties={
                "message_id": b"ord-1001",
                "subject": b"OrderCreated",
                "content_type": b"application/json",
                "correlation_id": b"trace",
                "group_id": b"customer-7",
            },
            message_annotations={
                b"x-opt-sequence-number": 42,
                b"x-opt-enqueued-time": 1_767_268_800_000,
            },
            application_properties={b"origin": b"web", b"attempt": 3, "trace": TOKEN},
        )
    )
    assert delivery.message_id == "ord-1001"
    assert delivery.body == b"{}"
    assert delivery.lock_token == str(TOKEN)
    assert delivery.delivery_count == 3
    assert delivery.sequence_number == 42
    assert delivery.enqueued_time == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert delivery.subject == "OrderCreated"
    assert delivery.content_type == "application/json"
    assert delivery.correlation_id == "trace"
    assert delivery.session_id == "customer-7"
    assert delivery.properties == {"origin": "web", "attempt": 3, "trace": str(TOKEN)}


@pytest.mark.parametrize("delivery_count", [0, None])
def test_the_first_delivery_counts_as_one(delivery_count: int | None) -> None:
    assert to_delivery(received(delivery_count=delivery_count)).delivery_count == 1


@pytest.mark.case("BODY-13")
@pytest.mark.parametrize(
    ("sections", "body"),
    [
        ({"data": [b'{"a":', b"1}"]}, b'{"a":1}'),
        ({"data": []}, None),
        ({"data": [b"{}", 7]}, None),
        ({"value": b"{}"}, b"{}"),
        ({"value": "{}"}, b"{}"),
        ({"value": {b"a": 1}}, None),
        ({"value": 7}, None),
        ({"value": None}, None),
        ({"sequence": [[1, 2]]}, None),
        ({}, None),
    ],
)
def test_only_bytes_and_text_are_a_body(sections: dict[str, Any], body: bytes | None) -> None:
    assert to_delivery(received(**sections)).body == body


@pytest.mark.parametrize(
    ("message_id", "text"),
    [
        (None, None),
        (b"", ""),
        (7, "7"),
        (TOKEN, str(TOKEN)),
        ("\u00e9".encode(), "\u00e9"),
        (b"\xff", "\\xff"),
    ],
)
def test_a_message_id_is_text_of_whatever_type_it_was_sent(
    message_id: object, text: str | None
) -> None:
    assert to_delivery(received(properties={"message_id": message_id})).message_id == text


def test_bytes_that_are_no_text_stay_bytes_in_a_property() -> None:
    properties = {b"raw": b"\xff", b"text": "\u00e9".encode()}
    delivery = to_delivery(received(application_properties=properties))
    assert delivery.properties == {"raw": b"\xff", "text": "\u00e9"}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary() | st.text() | st.uuids(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(
    header=st.none() | st.integers(0, 1000),
    properties=st.none()
    | st.fixed_dictionaries(
        dict.fromkeys(("message_id", "subject", "content_type", "group_id"), anything)
    ),
    application_properties=st.none() | st.dictionaries(st.text() | st.binary(), anything),
    body=st.sampled_from(["data", "sequence", "value"]).flatmap(
        lambda section: st.fixed_dictionaries(
            {section: anything if section == "value" else st.lists(anything)}
        )
    ),
)
def test_no_message_is_too_odd(
    header: int | None,
    properties: dict[str, Any] | None,
    application_properties: dict[str | bytes, Any] | None,
    body: dict[str, Any],
) -> None:
    message = received(
        delivery_count=header,
        properties=properties,
        application_properties=application_properties,
        **body,
    )
    delivery = to_delivery(message)
    assert delivery.body is None or isinstance(delivery.body, bytes)
    assert all(isinstance(name, str) for name in delivery.properties)
