"""What is said to the host's Settlement service, as bytes.

The service takes three small messages of text fields, so they are encoded here, and no
generated code or protobuf library has to agree in version with the one of the worker. The
contract is ``settlement.proto`` of the host's Service Bus extension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter

if TYPE_CHECKING:
    from idempotent_consumer.core.reasons import Reason

LOCK_TOKEN = 1
DEAD_LETTER_REASON = 3
DEAD_LETTER_DESCRIPTION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementRequest:
    """One call of the service: the name of the method, and its argument."""

    method: str
    argument: bytes


def settlement_request(
    settlement: Complete | DeadLetter | Abandon, lock_token: str
) -> SettlementRequest:
    """The call that settles the delivery with this lock token."""
    token = _field(LOCK_TOKEN, lock_token.encode())
    match settlement:
        case Complete():
            return SettlementRequest(method="Complete", argument=token)
        case Abandon():
            return SettlementRequest(method="Abandon", argument=token)
        case DeadLetter(reason, description):
            return SettlementRequest(
                method="Deadletter", argument=token + _dead_letter(reason, description)
            )
        case _:
            assert_never(settlement)


def _dead_letter(reason: Reason, description: str) -> bytes:
    return _text_value(DEAD_LETTER_REASON, reason.value) + _text_value(
        DEAD_LETTER_DESCRIPTION, description
    )


def _text_value(number: int, text: str) -> bytes:
    """A ``google.protobuf.StringValue``: a message that holds the text as its field 1."""
    return _field(number, _field(1, text.encode(errors="backslashreplace")))


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes, text or a message: tag, length, content."""
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last byte have the high bit set."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
