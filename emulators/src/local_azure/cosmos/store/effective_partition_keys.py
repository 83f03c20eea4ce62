"""Effective partition keys: where a partition key value lies in the range that is split up.

Clients that read the changes of one partition send no key but an interval of these.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from local_azure.cosmos.errors import bad_request
from local_azure.cosmos.store.murmur import murmur3_32, murmur3_128
from local_azure.cosmos.store.partition_keys import Component, utf8

if TYPE_CHECKING:
    from local_azure.cosmos.store.partition_keys import PartitionKey

_MARKS: Final = {"undefined": b"\x00", "null": b"\x01", "boolean": b"\x02"}
_TRUE_MARK: Final = b"\x03"
_NUMBER_MARK: Final = b"\x05"
_STRING_MARK: Final = b"\x08"
_HEXADECIMAL: Final = frozenset("0123456789ABCDEF")
_BELOW_THE_END: Final = 0x3F
"""Clears the two highest bits, for ``FF`` is the end of the whole range."""
_CHARACTERS_HASHED_BY_VERSION_1: Final = 100
_HIGHEST_BIT: Final = 1 << 63
_64_BITS: Final = 2**64 - 1


@lru_cache(maxsize=100_000)
def effective_partition_key(key: PartitionKey, hash_version: int) -> str:
    """The key's place, in hexadecimal digits that compare like places."""
    if hash_version == 2:
        return "".join(map(_hashed_by_version_2, key))
    return _hashed_by_version_1(tuple(map(_shortened, key)))


def checked_interval(start: str, end: str) -> tuple[str, str]:
    """An interval as a client sends it, in the form in which places compare."""
    start, end = start.upper(), end.upper()
    if not _HEXADECIMAL.issuperset(start + end):
        raise bad_request("The interval of effective partition keys is not hexadecimal.")
    return start, end


def _hashed_by_version_2(component: Component) -> str:
    digest = bytearray(murmur3_128(_written(component, end=b"\xff")).to_bytes(16))
    digest[0] &= _BELOW_THE_END
    return digest.hex().upper()


def _hashed_by_version_1(key: PartitionKey) -> str:
    """The hash as a number, and behind it the values themselves."""
    written = b"".join(_written(component, end=b"\x00") for component in key)
    digest = Component("number", float(murmur3_32(written)))
    return b"".join(map(_sortable, (digest, *key))).hex().upper()


def _shortened(component: Component) -> Component:
    if not isinstance(component.value, str):
        return component
    return Component("string", component.value[:_CHARACTERS_HASHED_BY_VERSION_1])


def _written(component: Component, *, end: bytes) -> bytes:
    """What is hashed of a value."""
    match component.value:
        case str() as text:
            return _STRING_MARK + utf8(text) + end
        case None | bool():
            return _mark(component)
        case number:
            return _NUMBER_MARK + struct.pack("<d", number)


def _sortable(component: Component) -> bytes:
    """Bytes that compare like the values they stand for."""
    match component.value:
        case str() as text:
            shifted = bytes(min(byte + 1, 0xFF) for byte in utf8(text))
            is_short = len(shifted) <= _CHARACTERS_HASHED_BY_VERSION_1
            ending = b"\x00" if is_short else b""
            return _STRING_MARK + shifted[: _CHARACTERS_HASHED_BY_VERSION_1 + 1] + ending
        case None | bool():
            return _mark(component)
        case number:
            return _NUMBER_MARK + _sortable_number(number)


def _mark(component: Component) -> bytes:
    return _TRUE_MARK if component.value is True else _MARKS[component.kind]


def _sortable_number(number: float) -> bytes:
    """Eight bits, then seven a byte; a byte's last bit tells whether another one follows."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    bits = bits ^ _HIGHEST_BIT if bits < _HIGHEST_BIT else -bits & _64_BITS
    written, bits = [bits >> 56], bits << 8 & _64_BITS
    while bits:
        written.append(bits >> 56 | 1)
        bits = bits << 7 & _64_BITS
    if len(written) == 1:
        written.append(0)
    written[-1] &= 0xFE
    return bytes(written)
