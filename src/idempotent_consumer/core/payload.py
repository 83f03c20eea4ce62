"""What a message asks for: its body and type, or those of the CloudEvent that it carries.

A CloudEvent (https://cloudevents.io, version 1.0) comes in two modes. In binary mode the body is
its data, and its attributes are application properties; in structured mode the body is an
envelope around both. The same event is the same payload in either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from idempotent_consumer.core.decode import decode_object, media_type
from idempotent_consumer.core.reasons import Reason, Rejected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from idempotent_consumer.core.delivery import Delivery, JsonObject, JsonValue

STRUCTURED = "application/cloudevents+json"
PREFIXES = ("cloudEvents:", "cloudEvents_")
"""What begins the name of a property that is an attribute, by the AMQP binding; both are legal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What identifies a CloudEvent, and what it is about."""

    source: str
    id: str
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a message asks for.

    Attributes:
        type: The message's Subject; of a CloudEvent, its type.
        properties: The application properties, with the attributes of a CloudEvent.
        body: The JSON object; of a CloudEvent, its data.
        event: The CloudEvent, if it is one.
    """

    type: str | None
    properties: Mapping[str, object]
    body: JsonObject
    event: Event | None = None

    @property
    def hashed_type(self) -> JsonValue:
        """What stands for the type in the request hash."""
        return self.type if self.event is None else [self.type, self.event.subject]


def read_payload(delivery: Delivery) -> Payload:
    """What the delivery asks for.

    Raises:
        Rejected: It cannot be read, or is a CloudEvent that is none.
    """
    body = decode_object(delivery)
    if media_type(delivery) == STRUCTURED:
        return _of_event(delivery, _envelope_attributes(body), _data(body))
    attributes = _property_attributes(delivery.properties)
    if "specversion" in attributes:
        return _of_event(delivery, attributes, body)
    return Payload(type=delivery.subject, properties=delivery.properties, body=body)


def _of_event(delivery: Delivery, attributes: Mapping[str, object], data: JsonObject) -> Payload:
    if attributes.get("specversion") != "1.0":
        _invalid("specversion is not 1.0")
    subject = _text(attributes, "subject") if "subject" in attributes else None
    return Payload(
        type=_text(attributes, "type"),
        properties={**delivery.properties, **attributes},
        body=data,
        event=Event(
            source=_text(attributes, "source"), id=_text(attributes, "id"), subject=subject
        ),
    )


def _property_attributes(properties: Mapping[str, object]) -> dict[str, object]:
    """The attributes of binary mode; null is absence in either mode."""
    return {
        name[len(prefix) :]: value
        for name, value in properties.items()
        for prefix in PREFIXES
        if name.startswith(prefix) and value is not None
    }


def _envelope_attributes(envelope: JsonObject) -> dict[str, object]:
    return {
        name: value
        for name, value in envelope.items()
        if name not in {"data", "data_base64"} and value is not None
    }


def _data(envelope: JsonObject) -> JsonObject:
    if "data_base64" in envelope:
        raise Rejected("the event's data is base64", reason=Reason.UNSUPPORTED_CONTENT)
    data = envelope.get("data")
    if not isinstance(data, dict):
        raise Rejected("the event's data is no JSON object", reason=Reason.MALFORMED_BODY)
    return data


def _text(attributes: Mapping[str, object], name: str) -> str:
    value = attributes.get(name)
    if not isinstance(value, str) or not value:
        _invalid(f"{name} is absent or no text")
    return value


def _invalid(detail: str) -> NoReturn:
    raise Rejected(f"the CloudEvent's {detail}", reason=Reason.INVALID_CLOUD_EVENT)
