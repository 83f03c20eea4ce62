"""The sections of an encoded message (AMQP 1.0, part 3.2), as raw bytes.

A broker must hand on the bare message unchanged, so nothing in it is decoded but what the broker
itself has to know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from local_azure.servicebus.amqp.decoding import decode, decode_at, skip
from local_azure.servicebus.amqp.encoding import encode, encode_map
from local_azure.servicebus.amqp.errors import DecodeError
from local_azure.servicebus.amqp.types import Described, Symbol, UByte, UInt, ULong

HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS = 0x70, 0x71, 0x72
PROPERTIES, APPLICATION_PROPERTIES = 0x73, 0x74
DATA, SEQUENCE, VALUE, FOOTER = 0x75, 0x76, 0x77, 0x78

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")


@dataclass(slots=True)
class Sections:
    """An encoded message by its sections; each is its value's bytes, without descriptor.

    Attributes:
        values: The sections that occur at most once.
        body: All body sections with their descriptors, in order.
    """

    values: dict[int, bytes] = field(default_factory=dict)
    body: bytes = b""

    def decoded(self, section: int, kind: type[_T]) -> _T:
        """The value of a section, or an empty one where the message has none."""
        raw = self.values.get(section)
        if raw is None:
            return kind()
        value = decode(raw)
        if not isinstance(value, kind):
            raise DecodeError(f"section 0x{section:x} is not a {kind.__name__}")
        return value


def split(encoded: bytes) -> Sections:
    """The sections of a message, in whatever order they come.

    Raises:
        DecodeError: Something else than sections is there, or one occurs twice.
    """
    sections, at = Sections(), 0
    while at < len(encoded):
        descriptor, value_at = _descriptor(encoded, at)
        end = skip(encoded, value_at)
        if descriptor in (DATA, SEQUENCE, VALUE):
            sections.body += encoded[at:end]
        elif descriptor in sections.values:
            raise DecodeError(f"section 0x{descriptor:x} occurs twice")
        else:
            sections.values[descriptor] = encoded[value_at:end]
        at = end
    return sections


def _descriptor(encoded: bytes, at: int) -> tuple[int, int]:
    descriptor, value_at = decode_at(encoded, at + 1)
    if encoded[at] != 0 or not isinstance(descriptor, ULong):
        raise DecodeError("a section is missing")
    if not HEADER <= descriptor <= FOOTER:
        raise DecodeError(f"0x{descriptor:x} is no section")
    return descriptor, value_at


def data_sections(body: bytes) -> list[bytes]:
    """The contents of a body's data sections."""
    contents, at = [], 0
    while at < len(body):
        value, at = decode_at(body, at)
        if not isinstance(value, Described) or not isinstance(value.value, bytes):
            raise DecodeError("the body is not data")
        contents.append(value.value)
    return contents


def section(descriptor: int, value: bytes) -> bytes:
    """A section with its descriptor in the short form, the only one all clients can read."""
    return bytes((0x00, 0x53, descriptor)) + value


def encode_annotations(kept: list[bytes], added: Mapping[Symbol, object]) -> bytes:
    """The map of annotations that are encoded already and new ones."""
    return encode_map([*kept, *(encode(key) + encode(value) for key, value in added.items())])


def single_message(
    *,
    properties: list[object],
    application_properties: Mapping[str, object],
    value: object,
) -> bytes:
    """A message with one value as its body, as requests and answers have it."""
    return (
        section(PROPERTIES, encode(properties))
        + section(APPLICATION_PROPERTIES, encode(dict(application_properties)))
        + section(VALUE, encode(value))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header section, without the delivery count, which is the broker's."""

    durable: bool = False
    priority: UByte | None = None
    time_to_live: UInt | None = None

    @classmethod
    def of(cls, sections: Sections) -> Header:
        """The header of a message; an absent one is the default."""
        durable, priority, ttl, *_ = [*sections.decoded(HEADER, list), None, None, None]
        if not isinstance(priority, UByte | None) or not isinstance(ttl, UInt | None):
            raise DecodeError("a field of the header is of the wrong type")
        return cls(durable=durable is True, priority=priority, time_to_live=ttl)

    def encoded(self, delivery_count: int) -> bytes:
        """The section for a delivery; clients need the count even where it is 0."""
        count = UInt(delivery_count)
        fields = [self.durable, self.priority, self.time_to_live, delivery_count == 0, count]
        return section(HEADER, encode(fields))
