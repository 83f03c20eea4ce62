"""Bytes to typed values (AMQP 1.0, part 1).

Every value keeps its type, so that encoding gives the same value back. Input is hostile: sizes
and counts are checked against what is there, and nesting is bounded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

from local_azure.servicebus.amqp.errors import DecodeError
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

MAX_DEPTH = 32

_DESCRIBED = 0x00

Decoded: TypeAlias = tuple[object, int]
Decoder: TypeAlias = Callable[[bytes, int, int], Decoded]


def _scalar(layout: str, make: Callable[[int], object]) -> Decoder:
    unpack_from, size = struct.Struct(layout).unpack_from, struct.calcsize(layout)

    def decode(data: bytes, at: int, _: int) -> Decoded:
        return make(unpack_from(data, at)[0]), at + size

    return decode


def _constant(value: object) -> Decoder:
    return lambda _, at, __: (value, at)


def _raw(size: int, make: Callable[[bytes], object]) -> Decoder:
    return lambda data, at, _: (make(_slice(data, at, size)), at + size)


def _variable(layout: str, make: Callable[[bytes], object]) -> Decoder:
    unpack_from, width = struct.Struct(layout).unpack_from, struct.calcsize(layout)

    def decode(data: bytes, at: int, _: int) -> Decoded:
        start, size = at + width, unpack_from(data, at)[0]
        return make(_slice(data, start, size)), start + size

    return decode


def _slice(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise DecodeError("a value ends beyond its frame")
    return data[at : at + size]


def _text(raw: bytes) -> str:
    return raw.decode()


def _symbol(raw: bytes) -> Symbol:
    return Symbol(raw.decode("ascii"))


def _compound_head(data: bytes, at: int, layout: struct.Struct) -> tuple[int, int, int]:
    """Where the items begin, how many there are and where they must end."""
    if at + layout.size > len(data):
        raise DecodeError("a value ends beyond its frame")
    size, count = layout.unpack_from(data, at)
    end = at + layout.size // 2 + size
    if end > len(data) or count > size:
        raise DecodeError("a compound value is larger than its frame")
    return at + layout.size, count, end


def _items(data: bytes, at: int, depth: int, layout: struct.Struct) -> tuple[list[object], int]:
    at, count, end = _compound_head(data, at, layout)
    items = []
    for _ in range(count):
        item, at = decode_at(data, at, depth + 1)
        items.append(item)
    if at != end:
        raise DecodeError("a compound value has another size than it says")
    return items, end


def _list(layout: str) -> Decoder:
    head = struct.Struct(layout)
    return lambda data, at, depth: _items(data, at, depth, head)


def _map(layout: str) -> Decoder:
    head = struct.Struct(layout)

    def decode(data: bytes, at: int, depth: int) -> Decoded:
        items, at = _items(data, at, depth, head)
        if len(items) % 2:
            raise DecodeError("a map has a key without a value")
        return dict(zip(items[::2], items[1::2], strict=True)), at

    return decode


def _array(layout: str) -> Decoder:
    head = struct.Struct(layout)

    def decode(data: bytes, at: int, depth: int) -> Decoded:
        at, count, end = _compound_head(data, at, head)
        descriptor, code, at = _constructor(data, at, depth)
        items = Array()
        for _ in range(count):
            item, at = _decode_as(code, data, at, depth + 1)
            items.append(item if descriptor is None else Described(descriptor, item))
        if at != end:
            raise DecodeError("an array has another size than it says")
        return items, end

    return decode


def _constructor(data: bytes, at: int, depth: int) -> tuple[object, int, int]:
    if data[at] != _DESCRIBED:
        return None, data[at], at + 1
    descriptor, at = decode_at(data, at + 1, depth + 1)
    return descriptor, data[at], at + 1


def _described(data: bytes, at: int, depth: int) -> Decoded:
    descriptor, at = decode_at(data, at, depth + 1)
    value, at = decode_at(data, at, depth + 1)
    return Described(descriptor, value), at


_DECODERS: dict[int, Decoder] = {
    _DESCRIBED: _described,
    0x40: _constant(None),
    0x41: _constant(True),
    0x42: _constant(False),
    0x43: _constant(UInt(0)),
    0x44: _constant(ULong(0)),
    0x45: lambda _, at, __: ([], at),
    0x50: _scalar(">B", UByte),
    0x51: _scalar(">b", Byte),
    0x52: _scalar(">B", UInt),
    0x53: _scalar(">B", ULong),
    0x54: _scalar(">b", Int),
    0x55: _scalar(">b", Long),
    0x56: _scalar(">B", bool),
    0x60: _scalar(">H", UShort),
    0x61: _scalar(">h", Short),
    0x70: _scalar(">I", UInt),
    0x71: _scalar(">i", Int),
    0x72: _scalar(">f", Float),
    0x73: _raw(4, lambda raw: Char(raw.decode("utf-32-be"))),
    0x74: _raw(4, Decimal),
    0x80: _scalar(">Q", ULong),
    0x81: _scalar(">q", Long),
    0x82: _scalar(">d", float),
    0x83: _scalar(">q", Timestamp),
    0x84: _raw(8, Decimal),
    0x94: _raw(16, Decimal),
    0x98: _raw(16, lambda raw: UUID(bytes=raw)),
    0xA0: _variable(">B", bytes),
    0xA1: _variable(">B", _text),
    0xA3: _variable(">B", _symbol),
    0xB0: _variable(">I", bytes),
    0xB1: _variable(">I", _text),
    0xB3: _variable(">I", _symbol),
    0xC0: _list(">BB"),
    0xD0: _list(">II"),
    0xC1: _map(">BB"),
    0xD1: _map(">II"),
    0xE0: _array(">BB"),
    0xF0: _array(">II"),
}


def _decode_as(code: int, data: bytes, at: int, depth: int) -> Decoded:
    if depth > MAX_DEPTH:
        raise DecodeError(f"values are nested deeper than {MAX_DEPTH}")
    decoder = _DECODERS.get(code)
    if decoder is None:
        raise DecodeError(f"0x{code:02x} is no format code")
    return decoder(data, at, depth)


def decode_at(data: bytes, at: int, depth: int = 0) -> Decoded:
    """The value that begins at ``at`` and where the next one begins.

    Raises:
        DecodeError: There is none, or not a whole one.
    """
    try:
        return _decode_as(data[at], data, at + 1, depth)
    except (IndexError, struct.error) as error:
        raise DecodeError("a value ends beyond its frame") from error
    except (TypeError, ValueError) as error:
        raise DecodeError(f"a value is not of its type: {type(error).__name__}") from error


def decode(data: bytes) -> object:
    """The one value that ``data`` is."""
    value, end = decode_at(data, 0)
    if end != len(data):
        raise DecodeError("bytes follow the value")
    return value


_FIXED_WIDTHS: dict[int | None, int] = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
_SIZE_WIDTHS: dict[int | None, int] = {0xA: 1, 0xC: 1, 0xE: 1, 0xB: 4, 0xD: 4, 0xF: 4}


def skip(data: bytes, at: int) -> int:
    """Where the value that begins at ``at`` ends; its inside is not looked at."""
    while data[at : at + 1] == b"\x00":
        _, at = decode_at(data, at + 1, 1)
    category = data[at] >> 4 if at < len(data) else None
    if (width := _FIXED_WIDTHS.get(category)) is not None:
        end = at + 1 + width
    elif (width := _SIZE_WIDTHS.get(category)) is not None:
        end = at + 1 + width + int.from_bytes(data[at + 1 : at + 1 + width], "big")
    else:
        raise DecodeError("a value is missing")
    if end > len(data):
        raise DecodeError("a value ends beyond its frame")
    return end


_MAP_LAYOUTS = {b"\xc1": struct.Struct(">BB"), b"\xd1": struct.Struct(">II")}


def map_entries(data: bytes, at: int) -> list[tuple[str | int, bytes]]:
    """The keys of the map that begins at ``at``, each with its key and value as raw bytes.

    Raises:
        DecodeError: There is no map, or a key is of a type that properties do not have.
    """
    layout = _MAP_LAYOUTS.get(data[at : at + 1])
    if layout is None:
        raise DecodeError("a map is missing")
    at, count, end = _compound_head(data, at + 1, layout)
    entries = []
    for _ in range(count // 2):
        key, value_at = decode_at(data, at)
        if not isinstance(key, str | int):
            raise DecodeError("a key is neither text nor a number")
        next_at = skip(data, value_at)
        entries.append((key, data[at:next_at]))
        at = next_at
    if at != end or count % 2:
        raise DecodeError("a map has another size than it says")
    return entries
