"""CloudEvents: what identifies them, what they ask for, and what is none."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
import rfc8785

from idempotent_consumer.core.keys import BodyField, CloudEvent
from idempotent_consumer.core.payload import read_payload
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.request_hash import Selection
from tests.unit.core.samples import ORDER, delivery, order_consumer

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery

EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "42",
    "source": "/shop/eu",
    "type": "order.created",
    "subject": "ord-1001",
    "tenant": "eu",
}
TIMES = {"time": "2026-01-01T00:00:00Z", "traceparent": "00-aa-bb-01"}


def structured(data: object = ORDER, **attributes: object) -> Delivery:
    envelope = {**EVENT, **attributes, "data": data}
    return delivery(envelope, content_type="application/cloudevents+json; charset=UTF-8")


def binary(data: object = ORDER, prefix: str = "cloudEvents:", **attributes: object) -> Delivery:
    properties = {prefix + name: value for name, value in {**EVENT, **attributes}.items()}
    return delivery(data, content_type="application/json", properties=properties)


def reason_for(sent: Delivery) -> Reason:
    with pytest.raises(Rejected) as caught:
        order_consumer(key=CloudEvent()).read(sent)
    return caught.value.reason


def digest(sent: Delivery, **selected: Any) -> str:
    return order_consumer(hashed=Selection(**selected)).read(sent).digest


@pytest.mark.parametrize(
    "sent", [structured(), binary(), binary(prefix="cloudEvents_")], ids=["json", ":", "_"]
)
def test_source_and_id_are_the_key_in_either_mode(sent: Delivery) -> None:
    request = order_consumer(key=CloudEvent()).read(sent)
    assert request.key == '["/shop/eu","42"]'
    assert request.message.type == "order.created"
    assert request.message.properties["tenant"] == "eu"
    assert request.payload.body == ORDER


def test_the_digest_of_an_event_is_what_anybody_can_compute() -> None:
    text = rfc8785.dumps([["order.created", "ord-1001"], {}, ORDER])
    assert digest(structured()) == sha256(text).hexdigest()


@pytest.mark.case("KEY-09", "CE-01")
def test_an_id_of_two_sources_is_two_keys_however_they_are_joined() -> None:
    consumer = order_consumer(key=CloudEvent())
    pairs = [("/o", "1/2"), ("/o/1", "2"), ("/o", '1","2'), ('/o","1', "2")]
    keys = {consumer.read(structured(source=source, id=name)).key for source, name in pairs}
    assert len(keys) == len(pairs)


def test_a_place_in_the_body_is_one_in_the_data() -> None:
    assert order_consumer(key=BodyField("/orderId")).read(structured()).key == "ord-1001"


@pytest.mark.case("CE-03")
@pytest.mark.parametrize(
    "copy",
    [
        structured(**TIMES),
        structured(source="/copied", id="43"),
        binary(**TIMES),
        binary(time=None),
    ],
)
def test_the_envelope_is_not_part_of_what_is_asked_for(copy: Delivery) -> None:
    assert digest(structured()) == digest(copy)


@pytest.mark.parametrize(
    "change",
    [
        structured({**ORDER, "total": 1}),
        structured(type="order.cancelled"),
        structured(subject="ord-1002"),
        structured(subject=None),
        delivery(ORDER, subject="order.created"),
    ],
)
def test_type_subject_and_data_are(change: Delivery) -> None:
    assert digest(structured()) != digest(change)


def test_null_is_absence_in_either_mode() -> None:
    assert digest(structured(subject=None)) == digest(binary(subject=None))


def test_a_declared_attribute_counts_in_either_mode() -> None:
    one, other = (digest(structured(tenant=name), properties=["tenant"]) for name in ("eu", "us"))
    assert one != other
    assert one == digest(binary(), properties=["tenant"])


@pytest.mark.parametrize("name", ["id", "source", "type"])
@pytest.mark.parametrize("value", [None, "", 7])
@pytest.mark.parametrize("mode", [structured, binary])
def test_an_event_has_what_identifies_it(name: str, value: object, mode: Any) -> None:
    assert reason_for(mode(**{name: value})) is Reason.INVALID_CLOUD_EVENT


@pytest.mark.case("CE-05")
@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (structured(specversion="0.3"), Reason.INVALID_CLOUD_EVENT),
        (structured(specversion=None), Reason.INVALID_CLOUD_EVENT),
        (structured(subject=7), Reason.INVALID_CLOUD_EVENT),
        (structured(id="None"), Reason.INVALID_MESSAGE_ID),
        (delivery(ORDER), Reason.INVALID_CLOUD_EVENT),
        (structured(data=None), Reason.MALFORMED_BODY),
        (structured(data=[ORDER]), Reason.MALFORMED_BODY),
        (structured(data_base64="e30="), Reason.UNSUPPORTED_CONTENT),
        (
            delivery(ORDER, content_type="application/cloudevents-batch+json"),
            Reason.UNSUPPORTED_CONTENT,
        ),
    ],
)
def test_what_cannot_be_taken_for_one_event_is_rejected(sent: Delivery, reason: Reason) -> None:
    assert reason_for(sent) is reason


def test_a_message_that_says_nothing_of_events_is_none() -> None:
    sent = delivery({**EVENT, "data": ORDER}, subject="created", properties={"origin": "web"})
    payload = read_payload(sent)
    assert (payload.type, payload.event) == ("created", None)
    assert payload.body == json.loads(sent.body or b"")
