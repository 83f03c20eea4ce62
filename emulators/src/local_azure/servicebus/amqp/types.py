"""AMQP 1.0 primitive types that Python has no type of its own for.

``None``, ``bool``, ``str``, ``bytes``, ``float`` (double), ``uuid.UUID``, ``list`` and ``dict``
stand for themselves. A plain ``int`` has no width, so it cannot be encoded.
"""

from __future__ import annotations

from dataclasses import dataclass


class UByte(int):
    """Unsigned, 8 bits."""


class UShort(int):
    """Unsigned, 16 bits."""


class UInt(int):
    """Unsigned, 32 bits."""


class ULong(int):
    """Unsigned, 64 bits."""


class Byte(int):
    """Signed, 8 bits."""


class Short(int):
    """Signed, 16 bits."""


class Int(int):
    """Signed, 32 bits."""


class Long(int):
    """Signed, 64 bits."""


class Timestamp(int):
    """Milliseconds since the Unix epoch."""


class Float(float):
    """IEEE 754, 32 bits."""


class Char(str):
    """One Unicode character."""

    __slots__ = ()


class Symbol(str):
    """ASCII text from a constrained domain."""

    __slots__ = ()


class Decimal(bytes):
    """IEEE 754 decimal of 4, 8 or 16 bytes, as it stood on the wire."""


class Array(list[object]):
    """Values of one type."""


@dataclass(frozen=True, slots=True)
class Described:
    """A value and the descriptor that says what it means."""

    descriptor: object
    value: object
