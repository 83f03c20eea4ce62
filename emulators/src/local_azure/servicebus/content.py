"""Messages as they come off the wire and go back onto it.

The bare message stays the bytes that were sent. A delivery gets a header and annotations of the
broker's, and a dead letter two application properties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.decoding import map_entries
from local_azure.servicebus.amqp.encoding import encode, encode_map
from local_azure.servicebus.amqp.errors import AmqpError
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
from local_azure.servicebus.amqp.types import Int, Long, Symbol, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from local_azure.servicebus.message import DeadLetter, Lock, Message

BATCH_FORMAT = 0x80013700
"""The message format whose data sections each hold a message."""

_EMPTY_MAP = b"\xc1\x01\x00"
_BROKER_ANNOTATIONS = frozenset(
    {
        "x-opt-enqueued-time",
        "x-opt-sequence-number",
        "x-opt-locked-until",
        "x-opt-message-state",
        "x-opt-deadletter-source",
    }
)
_DEAD_LETTER_PROPERTIES = frozenset({"DeadLetterReason", "DeadLetterErrorDescription"})
_ACTIVE = Int(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireContent:
    """A message that was sent."""

    message_id: str | None
    time_to_live: float | None
    size: int
    header: Header
    sections: Sections

    @classmethod
    def parse(cls, encoded: bytes) -> WireContent:
        """Reads a message as far as the broker has to.

        Raises:
            AmqpError: It is malformed, or asks for what this emulator does not do.
        """
        sections = split(encoded)
        header = Header.of(sections)
        _check_maps(sections)
        ttl = header.time_to_live
        return cls(
            message_id=_message_id(sections),
            time_to_live=None if ttl is None else ttl / 1000,
            size=len(encoded),
            header=header,
            sections=sections,
        )

    @property
    def body(self) -> bytes:
        """The contents of the body's data sections."""
        return b"".join(data_sections(self.sections.body))

    @property
    def application_properties(self) -> dict[object, object]:
        """The sender's properties."""
        return self.sections.decoded(APPLICATION_PROPERTIES, dict)


def parse_sent(encoded: bytes, message_format: int) -> list[WireContent]:
    """The message that was sent, or those of a batch; raises as `WireContent.parse` does."""
    if message_format != BATCH_FORMAT:
        return [WireContent.parse(encoded)]
    return [WireContent.parse(inner) for inner in data_sections(split(encoded).body)]


def encode_delivery(
    message: Message[WireContent], lock: Lock, on_wall: Callable[[float], float]
) -> bytes:
    """The bytes of a locked message for its receiver.

    Args:
        message: What the queue gave out.
        lock: The lock that the receiver got with it.
        on_wall: Turns the queue's time into the machine's, which clients compare locks with.
    """
    content = message.content
    values = content.sections.values
    return b"".join(
        (
            content.header.encoded(message.delivery_count),
            _annotated(
                DELIVERY_ANNOTATIONS,
                values.get(DELIVERY_ANNOTATIONS),
                {Symbol("x-opt-lock-token"): lock.token},
            ),
            _annotated(
                MESSAGE_ANNOTATIONS,
                values.get(MESSAGE_ANNOTATIONS),
                _broker_annotations(message, on_wall(lock.until)),
            ),
            _section(PROPERTIES, values.get(PROPERTIES)),
            _application_properties(values.get(APPLICATION_PROPERTIES), message.dead_letter),
            content.sections.body,
            _section(FOOTER, values.get(FOOTER)),
        )
    )


def _broker_annotations(message: Message[WireContent], locked_until: float) -> dict[Symbol, object]:
    added: dict[Symbol, object] = {
        Symbol("x-opt-enqueued-time"): timestamp(message.enqueued_at),
        Symbol("x-opt-sequence-number"): Long(message.sequence_number),
        Symbol("x-opt-locked-until"): timestamp(locked_until),
        Symbol("x-opt-message-state"): _ACTIVE,
    }
    if message.dead_letter is not None:
        added[Symbol("x-opt-deadletter-source")] = message.dead_letter.source
    return added


def _annotated(descriptor: int, sent: bytes | None, added: dict[Symbol, object]) -> bytes:
    kept = _entries(sent, _BROKER_ANNOTATIONS | added.keys())
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


def _message_id(sections: Sections) -> str | None:
    fields = sections.decoded(PROPERTIES, list)
    value = fields[0] if fields else None
    return None if value is None else str(value)


def _check_maps(sections: Sections) -> None:
    """Refuses what could not be delivered later."""
    for descriptor in (DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, APPLICATION_PROPERTIES):
        keys = {key for key, _ in map_entries(sections.values.get(descriptor, _EMPTY_MAP), 0)}
        if "x-opt-scheduled-enqueue-time" in keys:
            raise AmqpError("amqp:not-implemented", "Scheduled messages are not emulated yet.")


def timestamp(moment: float) -> Timestamp:
    """Seconds since the epoch as AMQP writes them."""
    return Timestamp(round(moment * 1000))
