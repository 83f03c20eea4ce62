"""Messages as they come off the wire and go back onto it.

The bare message stays the bytes that were sent. A delivery gets a header and annotations of the
broker's, and a dead letter two application properties.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.decoding import map_entries
from local_azure.servicebus.amqp.encoding import encode, encode_map
from local_azure.servicebus.amqp.errors import AmqpError, DecodeError
from local_azure.servicebus.amqp.message import (
    APPLICATION_PROPERTIES,
    DELIVERY_ANNOTATIONS,
    FOOTER,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    Header,
    Sections,
    data_sections,
    encode_annotations,
    section,
    split,
)
from local_azure.servicebus.amqp.types import Int, Long, Symbol, Timestamp, UInt
from local_azure.servicebus.broker.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from local_azure.clock import Clock
    from local_azure.servicebus.broker.fields import Changes
    from local_azure.servicebus.broker.message import DeadLetter, Message

BATCH_FORMAT = 0x80013700
"""The message format whose data sections each hold a message."""

_EMPTY_MAP = b"\xc1\x01\x00"
_BROKER_ANNOTATIONS = frozenset(
    {
        "x-opt-enqueued-time",
        "x-opt-sequence-number",
        "x-opt-enqueue-sequence-number",
        "x-opt-locked-until",
        "x-opt-message-state",
        "x-opt-deadletter-source",
    }
)
_SCHEDULED = "x-opt-scheduled-enqueue-time"
_DEAD_LETTER_PROPERTIES = frozenset({"DeadLetterReason", "DeadLetterErrorDescription"})
_PROPERTY_COUNT = 13
_PROPERTY_INDEXES = {
    "MessageId": 0,
    "To": 2,
    "Label": 3,
    "ReplyTo": 4,
    "CorrelationId": 5,
    "ContentType": 6,
    "SessionId": 10,
    "ReplyToSessionId": 12,
}
"""Where the properties that rules know stand in the list of an AMQP message's properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireContent:
    """A message that was sent."""

    message_id: str | None
    session_id: str | None
    time_to_live: float | None
    scheduled_for: float | None
    size: int
    header: Header
    sections: Sections

    @classmethod
    def parse(cls, encoded: bytes, clock: Clock) -> WireContent:
        """Reads a message as far as the broker has to; raises `DecodeError` if malformed."""
        sections = split(encoded)
        header = Header.of(sections)
        ttl = header.time_to_live
        properties = _properties(sections)
        for descriptor in (DELIVERY_ANNOTATIONS, APPLICATION_PROPERTIES):
            _map(sections, descriptor)
        return cls(
            message_id=_text(properties, "MessageId"),
            session_id=_text(properties, "SessionId"),
            time_to_live=None if ttl is None else ttl / 1000,
            scheduled_for=_scheduled_for(sections, clock),
            size=len(encoded),
            header=header,
            sections=sections,
        )

    @property
    def properties_size(self) -> int:
        """Bytes of all sections but the body's."""
        return _size(self.sections.values)

    def largest_property_size(self) -> int:
        """Bytes of the largest application property, its name included."""
        entries = _entries(self.sections.values.get(APPLICATION_PROPERTIES), ())
        return max(map(len, entries), default=0)

    @property
    def body(self) -> bytes:
        """The contents of the body's data sections."""
        return b"".join(data_sections(self.sections.body))

    @property
    def application_properties(self) -> dict[object, object]:
        """The sender's properties."""
        return self.sections.decoded(APPLICATION_PROPERTIES, dict)

    @property
    def fields(self) -> Fields:
        """What rules look at."""
        values = _properties(self.sections)
        system = {name: values[at] for name, at in _PROPERTY_INDEXES.items()}
        return Fields(
            system={name: value for name, value in system.items() if value is not None},
            user={str(name): value for name, value in self.application_properties.items()},
        )

    def changed(self, changes: Changes) -> WireContent:
        """The same message with other properties; raises `AmqpError` if it cannot have them."""
        try:
            return self._changed(changes)
        except (TypeError, ValueError, struct.error) as error:
            text = f"A property cannot have the value that it is given: {error}."
            raise AmqpError("com.microsoft:argument-error", text) from error

    def lasting(self, seconds: float) -> WireContent:
        """The same message with another time to live."""
        ttl = UInt(round(seconds * 1000))
        header = replace(self.header, time_to_live=ttl)
        return replace(self, time_to_live=seconds, header=header)

    def _changed(self, changes: Changes) -> WireContent:
        values = dict(self.sections.values)
        properties = _properties(self.sections)
        if changes.system:
            properties = _with_system(properties, changes.system)
            values[PROPERTIES] = encode(properties)
        if changes.user:
            values[APPLICATION_PROPERTIES] = _with_user(
                values.get(APPLICATION_PROPERTIES), changes.user
            )
        return replace(
            self,
            message_id=_text(properties, "MessageId"),
            session_id=_text(properties, "SessionId"),
            size=self.size + _size(values) - _size(self.sections.values),
            sections=Sections(values=values, body=self.sections.body),
        )


def _properties(sections: Sections) -> list[object]:
    listed = sections.decoded(PROPERTIES, list)
    return [*listed, *[None] * (_PROPERTY_COUNT - len(listed))]


def _map(sections: Sections, descriptor: int) -> dict[object, object]:
    """A section that is a map; raises `DecodeError` where a key or value could not be handed on."""
    values = sections.decoded(descriptor, dict)
    for key in values:
        if not isinstance(key, str | int):
            raise DecodeError("a key is neither text nor a number")
    return values


def _text(properties: list[object], name: str) -> str | None:
    value = properties[_PROPERTY_INDEXES[name]]
    return None if value is None else str(value)


def _scheduled_for(sections: Sections, clock: Clock) -> float | None:
    """When the message becomes active by the emulator's clock; clients go by the machine's."""
    value = _map(sections, MESSAGE_ANNOTATIONS).get(_SCHEDULED)
    if not isinstance(value, Timestamp | None):
        raise DecodeError(f"{_SCHEDULED} is not a timestamp")
    return None if value is None else value / 1000 - clock.on_wall(0)


def _with_system(values: list[object], changes: Mapping[str, object]) -> list[object]:
    for name, value in changes.items():
        kind = Symbol if name == "ContentType" else str
        values[_PROPERTY_INDEXES[name]] = None if value is None else kind(value)
    return values


def _with_user(sent: bytes | None, changes: Mapping[str, object]) -> bytes:
    added = (
        encode(name) + encode(Long(value) if type(value) is int else value)
        for name, value in changes.items()
        if value is not None
    )
    return encode_map([*_entries(sent, changes.keys()), *added])


def _size(values: Mapping[int, bytes]) -> int:
    return sum(map(len, values.values()))


def parse_sent(encoded: bytes, message_format: int, clock: Clock) -> list[WireContent]:
    """The message that was sent, or those of a batch; raises as `WireContent.parse` does."""
    if message_format != BATCH_FORMAT:
        return [WireContent.parse(encoded, clock)]
    return [WireContent.parse(inner, clock) for inner in data_sections(split(encoded).body)]


def encode_message(message: Message[WireContent], clock: Clock) -> bytes:
    """The bytes of a message for whoever receives it or looks at it."""
    content = message.content
    values = content.sections.values
    token = {} if message.lock is None else {Symbol("x-opt-lock-token"): message.lock.token}
    return b"".join(
        (
            content.header.encoded(message.delivery_count),
            _annotated(DELIVERY_ANNOTATIONS, values.get(DELIVERY_ANNOTATIONS), token),
            _annotated(
                MESSAGE_ANNOTATIONS,
                values.get(MESSAGE_ANNOTATIONS),
                _broker_annotations(message, clock),
            ),
            _section(PROPERTIES, values.get(PROPERTIES)),
            _application_properties(values.get(APPLICATION_PROPERTIES), message.dead_letter),
            content.sections.body,
            _section(FOOTER, values.get(FOOTER)),
        )
    )


def _broker_annotations(message: Message[WireContent], clock: Clock) -> dict[Symbol, object]:
    added: dict[Symbol, object] = {
        Symbol("x-opt-enqueued-time"): timestamp(message.enqueued_at),
        Symbol("x-opt-sequence-number"): Long(message.sequence_number),
        Symbol("x-opt-enqueue-sequence-number"): Long(message.enqueued_sequence_number),
        Symbol("x-opt-message-state"): Int(message.state),
    }
    if message.lock is not None:  # clients compare it with the machine's time
        added[Symbol("x-opt-locked-until")] = timestamp(clock.on_wall(message.lock.until))
    if message.dead_letter is not None:
        added[Symbol("x-opt-deadletter-source")] = message.dead_letter.source
    return added


def _annotated(descriptor: int, sent: bytes | None, added: Mapping[Symbol, object]) -> bytes:
    kept = _entries(sent, _BROKER_ANNOTATIONS | added.keys())
    if sent is None and not added:
        return b""
    return section(descriptor, encode_annotations(kept, added))


def _application_properties(sent: bytes | None, dead_letter: DeadLetter | None) -> bytes:
    if dead_letter is None:
        return _section(APPLICATION_PROPERTIES, sent)
    entries = _entries(sent, _DEAD_LETTER_PROPERTIES)
    for key, value in (
        ("DeadLetterReason", dead_letter.reason),
        ("DeadLetterErrorDescription", dead_letter.description),
    ):
        entries.append(encode(key) + encode(value))
    return section(APPLICATION_PROPERTIES, encode_map(entries))


def _entries(raw: bytes | None, without: Container[object]) -> list[bytes]:
    return [entry for key, entry in map_entries(raw or _EMPTY_MAP, 0) if key not in without]


def _section(descriptor: int, raw: bytes | None) -> bytes:
    return b"" if raw is None else section(descriptor, raw)


def timestamp(moment: float) -> Timestamp:
    """Seconds since the epoch as AMQP writes them."""
    return Timestamp(round(moment * 1000))
