"""The one text of a JSON value: RFC 8785, but integers stand verbatim at any size.

RFC 8785 writes every number as the double nearest to it; two amounts beyond 2^53 would
then hash alike. The hash tag ``sha256:jcs1`` names this profile.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonValue


def canonical(value: JsonValue) -> str:
    """The canonical text of a value that `decode_object` let through."""
    match value:
        case str():
            return encode_basestring(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case list():
            return f"[{','.join(map(canonical, value))}]"
        case dict():
            return canonical_object({name: canonical(inner) for name, inner in value.items()})
        case _:
            assert_never(value)


def canonical_object(members: dict[str, str]) -> str:
    """The canonical text of an object, from the canonical texts of its members."""
    ordered = sorted(members, key=_utf16)
    return f"{{{','.join(f'{encode_basestring(name)}:{members[name]}' for name in ordered)}}}"


def _utf16(name: str) -> bytes:
    """RFC 8785 3.2.3 orders names by UTF-16 units, not by code points."""
    return name.encode("utf-16-be")


def _number(value: float) -> str:
    """ECMAScript's Number::toString, as RFC 8785 3.2.2.3 asks."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, point = _digits(abs(value))
    return sign + _layout(digits, point)


def _digits(value: float) -> tuple[str, int]:
    """The shortest digits that read back as the value, and where the point stands in them."""
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return digits.rstrip("0"), point


def _layout(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{point - 1:+d}"
