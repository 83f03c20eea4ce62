"""The built-in functions, and the aggregates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from local_azure.cosmos.errors import bad_request, not_emulated
from local_azure.cosmos.sql.budget import check_length
from local_azure.cosmos.sql.values import UNDEFINED, Kind, equals, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local_azure.cosmos.sql.values import Value

_SCALARS: Final = frozenset({Kind.NULL, Kind.BOOLEAN, Kind.NUMBER, Kind.STRING})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    """A function, and the types of its arguments; arguments of other types make it undefined.

    Attributes:
        compute: From arguments to result.
        takes: The type of each argument, ``None`` for any.
        optional: How many of the last arguments may be left out.
    """

    compute: Callable[..., Value]
    takes: tuple[Kind | None, ...]
    optional: int = 0


def call(name: str, arguments: Sequence[Value]) -> Value:
    """A function's result; `CosmosError` for a function that is not there."""
    function = _FUNCTIONS.get(name)
    if function is None:
        raise not_emulated(f"the function {name}")
    if not len(function.takes) - function.optional <= len(arguments) <= len(function.takes):
        raise bad_request(f"The function {name} is called with a wrong number of arguments.")
    for kind, argument in zip(function.takes, arguments, strict=False):
        if kind is not None and kind_of(argument) is not kind:
            return UNDEFINED
    return function.compute(*arguments)


def _contains(text: str, part: str, ignore_case: bool = False) -> bool:
    return _folded(part, ignore_case) in _folded(text, ignore_case)


def _starts_with(text: str, start: str, ignore_case: bool = False) -> bool:
    return _folded(text, ignore_case).startswith(_folded(start, ignore_case))


def _ends_with(text: str, end: str, ignore_case: bool = False) -> bool:
    return _folded(text, ignore_case).endswith(_folded(end, ignore_case))


def _string_equals(left: str, right: str, ignore_case: bool = False) -> bool:
    return _folded(left, ignore_case) == _folded(right, ignore_case)


def _folded(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _concat(*texts: Value) -> Value:
    if not all(isinstance(text, str) for text in texts):
        return UNDEFINED
    check_length(sum(map(len, texts)))
    return "".join(texts)


def _replace(text: str, old: str, new: str) -> str:
    check_length(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _substring(text: str, start: float, length: float) -> str:
    first = max(int(start), 0)
    return text[first : first + max(int(length), 0)]


def _array_contains(array: list[Value], wanted: Value, partially: bool = False) -> bool:
    return any(equals(item, wanted) is True or (partially and _has(item, wanted)) for item in array)


def _has(item: Value, wanted: Value) -> bool:
    """Whether an object has all the properties of another one."""
    if not isinstance(item, dict) or not isinstance(wanted, dict):
        return False
    return all(equals(item.get(name, UNDEFINED), value) is True for name, value in wanted.items())


def _array_slice(array: list[Value], start: float, length: float | None = None) -> list[Value]:
    first = int(start) if start >= 0 else max(len(array) + int(start), 0)
    return array[first:] if length is None else array[first : first + max(int(length), 0)]


def _round(number: float) -> float:
    """Halves go away from zero."""
    return math.copysign(math.floor(abs(number) + 0.5), number)


def _root(number: float) -> Value:
    return math.sqrt(number) if number >= 0 else UNDEFINED


def _power(base: float, exponent: float) -> Value:
    try:
        return finite(math.pow(base, exponent))
    except (OverflowError, ValueError):
        return UNDEFINED


def _as_string(value: Value) -> Value:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return UNDEFINED


def finite(number: float) -> Value:
    """A number as JSON can hold it: whole where it is, undefined where it is infinite."""
    if not math.isfinite(number):
        return UNDEFINED
    return int(number) if number == int(number) else number


def _is(kinds: frozenset[Kind], value: Value) -> bool:
    return kind_of(value) in kinds


def _test(*kinds: Kind) -> _Function:
    return _Function(compute=partial(_is, frozenset(kinds)), takes=(None,))


def _of_text(compute: Callable[..., Value], *more: Kind, optional: int = 0) -> _Function:
    return _Function(compute=compute, takes=(Kind.STRING, *more), optional=optional)


def _of_number(compute: Callable[..., float], *more: Kind) -> _Function:
    return _Function(compute=lambda *numbers: finite(compute(*numbers)), takes=(Kind.NUMBER, *more))


def _of_array(compute: Callable[..., Value], *more: Kind | None, optional: int = 0) -> _Function:
    return _Function(compute=compute, takes=(Kind.ARRAY, *more), optional=optional)


_MANY: Final = (None,) * 64
_DEFINED: Final = frozenset(Kind) - {Kind.UNDEFINED}

_FUNCTIONS: Final[Mapping[str, _Function]] = {
    "IS_DEFINED": _test(*_DEFINED),
    "IS_NULL": _test(Kind.NULL),
    "IS_BOOL": _test(Kind.BOOLEAN),
    "IS_NUMBER": _test(Kind.NUMBER),
    "IS_STRING": _test(Kind.STRING),
    "IS_ARRAY": _test(Kind.ARRAY),
    "IS_OBJECT": _test(Kind.OBJECT),
    "IS_PRIMITIVE": _test(*_SCALARS),
    "CONTAINS": _of_text(_contains, Kind.STRING, Kind.BOOLEAN, optional=1),
    "STARTSWITH": _of_text(_starts_with, Kind.STRING, Kind.BOOLEAN, optional=1),
    "ENDSWITH": _of_text(_ends_with, Kind.STRING, Kind.BOOLEAN, optional=1),
    "STRINGEQUALS": _of_text(_string_equals, Kind.STRING, Kind.BOOLEAN, optional=1),
    "CONCAT": _Function(compute=_concat, takes=_MANY, optional=62),
    "LENGTH": _of_text(len),
    "LOWER": _of_text(str.lower),
    "UPPER": _of_text(str.upper),
    "TRIM": _of_text(str.strip),
    "LTRIM": _of_text(str.lstrip),
    "RTRIM": _of_text(str.rstrip),
    "REVERSE": _of_text(lambda text: text[::-1]),
    "LEFT": _of_text(lambda text, length: _substring(text, 0, length), Kind.NUMBER),
    "RIGHT": _of_text(lambda text, length: text[max(len(text) - int(length), 0) :], Kind.NUMBER),
    "SUBSTRING": _of_text(_substring, Kind.NUMBER, Kind.NUMBER),
    "INDEX_OF": _of_text(str.find, Kind.STRING),
    "REPLACE": _of_text(_replace, Kind.STRING, Kind.STRING),
    "TOSTRING": _Function(compute=_as_string, takes=(None,)),
    "ABS": _of_number(abs),
    "CEILING": _of_number(math.ceil),
    "FLOOR": _of_number(math.floor),
    "ROUND": _of_number(_round),
    "SQRT": _Function(compute=_root, takes=(Kind.NUMBER,)),
    "POWER": _Function(compute=_power, takes=(Kind.NUMBER, Kind.NUMBER)),
    "ARRAY_CONTAINS": _of_array(_array_contains, None, Kind.BOOLEAN, optional=1),
    "ARRAY_LENGTH": _of_array(len),
    "ARRAY_CONCAT": _of_array(lambda left, right: left + right, Kind.ARRAY),
    "ARRAY_SLICE": _of_array(_array_slice, Kind.NUMBER, Kind.NUMBER, optional=1),
}


def _count(values: Sequence[Value]) -> Value:
    return len(values)


def _sum(values: Sequence[Value]) -> Value:
    if any(kind_of(value) is not Kind.NUMBER for value in values):
        return UNDEFINED
    try:
        return finite(math.fsum(values))
    except OverflowError:
        return UNDEFINED


def _average(values: Sequence[Value]) -> Value:
    total = _sum(values)
    return UNDEFINED if total is UNDEFINED or not values else finite(total / len(values))


def _least(values: Sequence[Value]) -> Value:
    return min(values, key=sort_key, default=UNDEFINED)


def _greatest(values: Sequence[Value]) -> Value:
    return max(values, key=sort_key, default=UNDEFINED)


AGGREGATES: Final[Mapping[str, Callable[[Sequence[Value]], Value]]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MIN": _least,
    "MAX": _greatest,
}
"""From the defined values of a group's rows to one result."""
