"""JSON values as the query language sees them: with ``undefined``, and in one order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, Final

Value = Any
"""A JSON value, or `UNDEFINED`."""


class _Undefined(Enum):
    UNDEFINED = "undefined"


UNDEFINED: Final = _Undefined.UNDEFINED
"""What a property that a document does not have is; not the same as ``null``."""


class Kind(IntEnum):
    """The types, in the order in which ``ORDER BY`` puts their values."""

    UNDEFINED = 0
    NULL = 1
    BOOLEAN = 2
    NUMBER = 3
    STRING = 4
    ARRAY = 5
    OBJECT = 6


_KINDS: Final[dict[type, Kind]] = {
    _Undefined: Kind.UNDEFINED,
    type(None): Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    str: Kind.STRING,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}
_COMPARABLE: Final = frozenset({Kind.NULL, Kind.BOOLEAN, Kind.NUMBER, Kind.STRING})

SortKey = tuple[int, Any]
"""Kind and value; equal for equal values, and ordered like them."""


def kind_of(value: Value) -> Kind:
    """The value's type."""
    return _KINDS[type(value)]


def sort_key(value: Value) -> SortKey:
    """What stands for a value in comparisons; Python itself takes ``True`` for ``1``."""
    kind = kind_of(value)
    match kind:
        case Kind.UNDEFINED | Kind.NULL:
            return kind.value, 0
        case Kind.ARRAY:
            return kind.value, tuple(map(sort_key, value))
        case Kind.OBJECT:
            return kind.value, tuple((name, sort_key(value[name])) for name in sorted(value))
        case _:
            return kind.value, value


@dataclass(frozen=True, slots=True)
class Size:
    """How large a value is.

    Attributes:
        values: It and all values within it.
        characters: About how many it has as JSON.
    """

    values: int
    characters: int


def size_of(value: Value, most: int) -> Size:
    """The value's size, counted no further than a little past so many characters.

    A value that a query makes may hold another one very often, so it can be far larger than
    the memory it takes.
    """
    values, characters, left = 0, 0, [value]
    while left and characters <= most:
        values += 1
        match left.pop():
            case str() as text:
                characters += len(text) + 3
            case list() as items:
                characters += 2
                left += items
            case dict() as members:
                characters += 2 + sum(len(name) + 4 for name in members)
                left += members.values()
            case int() as number:
                characters += 2 + number.bit_length() // 3
            case _:
                characters += 5
    return Size(values, characters)


def equals(left: Value, right: Value) -> Value:
    """Whether two values are the same; undefined if one of them is."""
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    return kind_of(left) is kind_of(right) and sort_key(left) == sort_key(right)


def compare(left: Value, right: Value) -> Value:
    """Negative, zero or positive; undefined for values that have no order among them."""
    kind = kind_of(left)
    if kind is not kind_of(right) or kind not in _COMPARABLE:
        return UNDEFINED
    first, second = sort_key(left), sort_key(right)
    return (first > second) - (first < second)
