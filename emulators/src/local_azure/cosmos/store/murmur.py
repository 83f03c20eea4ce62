"""MurmurHash3, the hash function behind partition keys; seed 0."""

from __future__ import annotations

import struct
from typing import Final

_64_BITS: Final = 2**64 - 1
_32_BITS: Final = 2**32 - 1
_C1: Final = 0x87C37B91114253D5
_C2: Final = 0x4CF5AD432745937F


def murmur3_128(data: bytes) -> int:
    """The 128-bit variant for x64; its second half is the higher one."""
    first = second = 0
    whole = len(data) - len(data) % 16
    for low, high in struct.iter_unpack("<QQ", data[:whole]):
        first = _turned(first ^ _scrambled(low, _C1, 31, _C2), 27) + second & _64_BITS
        first = first * 5 + 0x52DCE729 & _64_BITS
        second = _turned(second ^ _scrambled(high, _C2, 33, _C1), 31) + first & _64_BITS
        second = second * 5 + 0x38495AB5 & _64_BITS
    low, high = struct.unpack("<QQ", data[whole:].ljust(16, b"\x00"))
    return _finished(
        first ^ _scrambled(low, _C1, 31, _C2), second ^ _scrambled(high, _C2, 33, _C1), len(data)
    )


def _finished(first: int, second: int, length: int) -> int:
    first, second = first ^ length, second ^ length
    first = first + second & _64_BITS
    second = second + first & _64_BITS
    first, second = _mixed(first), _mixed(second)
    first = first + second & _64_BITS
    return (second + first & _64_BITS) << 64 | first


def _scrambled(block: int, factor: int, turn: int, other: int) -> int:
    return _turned(block * factor & _64_BITS, turn) * other & _64_BITS


def _turned(value: int, turn: int) -> int:
    return (value << turn | value >> 64 - turn) & _64_BITS


def _mixed(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _64_BITS
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _64_BITS
    return value ^ value >> 33


def murmur3_32(data: bytes) -> int:
    """The 32-bit variant."""
    digest = 0
    whole = len(data) - len(data) % 4
    for (block,) in struct.iter_unpack("<I", data[:whole]):
        digest = _turned_32(digest ^ _scrambled_32(block), 13) * 5 + 0xE6546B64 & _32_BITS
    digest ^= _scrambled_32(int.from_bytes(data[whole:], "little")) ^ len(data)
    digest = (digest ^ digest >> 16) * 0x85EBCA6B & _32_BITS
    digest = (digest ^ digest >> 13) * 0xC2B2AE35 & _32_BITS
    return digest ^ digest >> 16


def _scrambled_32(block: int) -> int:
    return _turned_32(block * 0xCC9E2D51 & _32_BITS, 15) * 0x1B873593 & _32_BITS


def _turned_32(value: int, turn: int) -> int:
    return (value << turn | value >> 32 - turn) & _32_BITS
