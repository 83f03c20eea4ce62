"""Typed values to bytes (AMQP 1.0, part 1)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias
from uuid import UUID

from local_azure.servicebus.amqp.types import (
    Array,
    Byte,
    Char,
    Decimal,
    Described,
    Float,
    Int,
    Long,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)

Encoder: TypeAlias = Callable[[Any], bytes]


def _sized(code8: int, code32: int, raw: bytes) -> bytes:
    if len(raw) < 0x100:
        return bytes((code8, len(raw))) + raw
    return struct.pack(">BI", code32, len(raw)) + raw


def encode_map(entries: list[bytes]) -> bytes:
    """A map of entries that are encoded already, each a key and its value."""
    return _compound(0xC1, 0xD1, 2 * len(entries), b"".join(entries))


def _compound(code8: int, code32: int, count: int, raw: bytes) -> bytes:
    if len(raw) < 0xFF and count < 0x100:
        return bytes((code8, len(raw) + 1, count)) + raw
    return struct.pack(">BII", code32, len(raw) + 4, count) + raw


def _packed(code: int, layout: str) -> Encoder:
    pack = struct.Struct(">B" + layout).pack
    return lambda value: bytes(pack(code, value))


def _unsigned(zero: int, small: int, code: int, layout: str) -> Encoder:
    pack = struct.Struct(">B" + layout).pack

    def encode_unsigned(value: Any) -> bytes:
        if 0 < value < 0x100:
            return bytes((small, value))
        return bytes(pack(code, value)) if value else bytes((zero,))

    return encode_unsigned


def _signed(small: int, code: int, layout: str) -> Encoder:
    pack, pack_small = struct.Struct(">B" + layout).pack, struct.Struct(">Bb").pack

    def encode_signed(value: Any) -> bytes:
        return pack_small(small, value) if -0x80 <= value < 0x80 else pack(code, value)

    return encode_signed


def _encode_decimal(value: Any) -> bytes:
    return bytes(({4: 0x74, 8: 0x84, 16: 0x94}[len(value)], *value))


def _encode_list(value: Any) -> bytes:
    if not value:
        return bytes((0x45,))
    return _compound(0xC0, 0xD0, len(value), b"".join(map(encode, value)))


def _encode_map(value: Any) -> bytes:
    return encode_map([encode(key) + encode(item) for key, item in value.items()])


def _long(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


_ELEMENTS: dict[type, tuple[int, Callable[[Any], bytes]]] = {
    kind: (code, struct.Struct(layout).pack)
    for kind, code, layout in (
        (bool, 0x56, ">?"),
        (UByte, 0x50, ">B"),
        (Byte, 0x51, ">b"),
        (UShort, 0x60, ">H"),
        (Short, 0x61, ">h"),
        (UInt, 0x70, ">I"),
        (Int, 0x71, ">i"),
        (Float, 0x72, ">f"),
        (ULong, 0x80, ">Q"),
        (Long, 0x81, ">q"),
        (float, 0x82, ">d"),
        (Timestamp, 0x83, ">q"),
    )
} | {
    UUID: (0x98, lambda value: encode(value)[1:]),
    bytes: (0xB0, _long),
    str: (0xB1, lambda value: _long(value.encode())),
    Symbol: (0xB3, lambda value: _long(value.encode())),
}


def _encode_array(value: Any) -> bytes:
    kinds = {type(item) for item in value} or {str}
    if len(kinds) > 1 or not kinds <= _ELEMENTS.keys():
        raise TypeError(f"no array of {', '.join(sorted(kind.__name__ for kind in kinds))}")
    code, pack = _ELEMENTS[kinds.pop()]
    raw = bytes((code,)) + b"".join(map(pack, value))
    return struct.pack(">BII", 0xF0, len(raw) + 4, len(value)) + raw


def _encode_described(value: Any) -> bytes:
    return b"\x00" + encode(value.descriptor) + encode(value.value)


_ENCODERS: dict[type, Encoder] = {
    type(None): lambda _: b"\x40",
    bool: lambda value: b"\x41" if value else b"\x42",
    UByte: _packed(0x50, "B"),
    Byte: _packed(0x51, "b"),
    UShort: _packed(0x60, "H"),
    Short: _packed(0x61, "h"),
    UInt: _unsigned(0x43, 0x52, 0x70, "I"),
    ULong: _unsigned(0x44, 0x53, 0x80, "Q"),
    Int: _signed(0x54, 0x71, "i"),
    Long: _signed(0x55, 0x81, "q"),
    Float: _packed(0x72, "f"),
    float: _packed(0x82, "d"),
    Timestamp: _packed(0x83, "q"),
    Char: lambda value: b"\x73" + value.encode("utf-32-be"),
    Decimal: _encode_decimal,
    UUID: lambda value: b"\x98" + bytes(value.bytes),
    bytes: lambda value: _sized(0xA0, 0xB0, value),
    str: lambda value: _sized(0xA1, 0xB1, value.encode()),
    Symbol: lambda value: _sized(0xA3, 0xB3, value.encode("ascii")),
    list: _encode_list,
    dict: _encode_map,
    Array: _encode_array,
    Described: _encode_described,
}


def encode(value: Any) -> bytes:
    """The bytes of a typed value.

    Raises:
        TypeError: AMQP has no type for it, or its width is unknown (a plain ``int``).
    """
    encoder = _ENCODERS.get(type(value))
    if encoder is None:
        raise TypeError(f"{type(value).__name__} is no AMQP type")
    return encoder(value)
