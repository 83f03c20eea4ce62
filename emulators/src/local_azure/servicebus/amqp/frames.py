"""Bytes to frames and back (AMQP 1.0, part 2.3), without I/O."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from local_azure.servicebus.amqp.decoding import decode_at
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.performatives import (
    Composite,
    Transfer,
    decode_composite,
    encode_composite,
)

AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
AMQP_FRAME, SASL_FRAME = 0, 1
EMPTY_FRAME = struct.pack(">IBBH", 8, 2, AMQP_FRAME, 0)
FRAME_HEAD = 8


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame; one without a body only shows that the peer lives."""

    kind: int
    channel: int
    performative: Composite | None
    payload: bytes


class FrameReader:
    """Cuts the bytes of a connection into protocol headers and frames."""

    def __init__(self, max_frame_size: int) -> None:
        self._max_frame_size = max_frame_size
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Takes bytes as they come off the socket."""
        self._buffer += data

    def next_header(self) -> bytes | None:
        """The next protocol header, once it is there."""
        return self._take(FRAME_HEAD) if len(self._buffer) >= FRAME_HEAD else None

    def next_frame(self) -> Frame | None:
        """The next frame, once it is there.

        Raises:
            AmqpError: It is too large or malformed.
        """
        if len(self._buffer) < FRAME_HEAD:
            return None
        size, offset, kind, channel = struct.unpack_from(">IBBH", self._buffer)
        if not FRAME_HEAD <= 4 * offset <= size <= self._max_frame_size:
            raise AmqpError("amqp:framing-error", f"a frame of {size} bytes cannot be read")
        if len(self._buffer) < size:
            return None
        return _frame(kind, channel, self._take(size), 4 * offset)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def _frame(kind: int, channel: int, data: bytes, body: int) -> Frame:
    if body == len(data):
        return Frame(kind, channel, None, b"")
    value, end = decode_at(data, body)
    performative = decode_composite(value)
    if end != len(data) and not isinstance(performative, Transfer):
        raise AmqpError("amqp:framing-error", "bytes follow a performative")
    return Frame(kind, channel, performative, data[end:])


def encode_frame(
    performative: Composite, *, channel: int = 0, payload: bytes = b"", kind: int = AMQP_FRAME
) -> bytes:
    """The bytes of a frame."""
    body = encode_composite(performative)
    size = FRAME_HEAD + len(body) + len(payload)
    return struct.pack(">IBBH", size, 2, kind, channel) + body + payload
