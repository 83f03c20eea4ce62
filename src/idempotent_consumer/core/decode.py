"""The body's bytes, read strictly: one JSON object in UTF-8, or the message is rejected.

Two readers must never understand one body differently, so whatever JSON leaves open is
refused: duplicate names, NaN, numbers past the range of a double, unpaired surrogates.
"""

from __future__ import annotations

import json
import math
from email.message import Message as MimeHeaders
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from idempotent_consumer.core.reasons import Reason, Rejected

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery, JsonObject, JsonValue

MAX_BODY_BYTES = 2 * 1024 * 1024
"""What fits no Cosmos DB document is not worth parsing."""
MAX_DEPTH = 100
"""Nesting that Cosmos DB still stores (128 levels) after a handler has wrapped it."""
MAX_DIGITS = 4_000
"""Python refuses to read integers beyond 4,300 digits."""

_JSON = "application/json"
_JSON_TYPES = frozenset({_JSON, "text/json", "text/plain", "application/octet-stream"})

_BATCH = "application/cloudevents-batch+json"
"""Several events in one message could be applied by halves."""


def decode_object(delivery: Delivery) -> JsonObject:
    """The JSON object that the delivery carries.

    Raises:
        Rejected: ``UnsupportedContent``, ``TooLarge`` or ``MalformedBody``.
    """
    _check_content(delivery)
    if delivery.body is None:
        raise Rejected("the body is neither bytes nor text", reason=Reason.UNSUPPORTED_CONTENT)
    if len(delivery.body) > MAX_BODY_BYTES:
        raise Rejected(f"the body exceeds {MAX_BODY_BYTES} bytes", reason=Reason.TOO_LARGE)
    value = _parse(_text(delivery.body))
    if not isinstance(value, dict):
        _malformed("the body is JSON, but no object")
    return value


def media_type(delivery: Delivery) -> str:
    """The content type without its parameters; JSON where none is given."""
    return _content_type(delivery.content_type or _JSON)[0]


def _check_content(delivery: Delivery) -> None:
    kind, charset = _content_type(delivery.content_type or _JSON)
    if kind == _BATCH or (kind not in _JSON_TYPES and not kind.endswith("+json")):
        raise Rejected("the content type is not JSON", reason=Reason.UNSUPPORTED_CONTENT)
    if charset not in {"utf-8", "utf8", "us-ascii"}:
        raise Rejected("the charset is not UTF-8", reason=Reason.UNSUPPORTED_CONTENT)
    if str(delivery.properties.get("Content-Encoding") or "identity").lower() != "identity":
        raise Rejected("the body is compressed", reason=Reason.UNSUPPORTED_CONTENT)


@lru_cache
def _content_type(header: str) -> tuple[str, str]:
    headers = MimeHeaders()
    headers["content-type"] = header
    return headers.get_content_type(), headers.get_content_charset("utf-8")


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        _malformed("the body is not UTF-8")


def _parse(text: str) -> JsonValue:
    try:
        value: JsonValue = _DECODER.decode(text)
        _check_values(value)
    except (ValueError, RecursionError):
        _malformed("the body is not one JSON value")
    return value


def _check_values(value: JsonValue, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        _malformed(f"the body is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for name, inner in value.items():
            name.encode()
            _check_values(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_values(inner, depth + 1)


def _object(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        _malformed("an object of the body names a member twice")
    return members


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        _malformed(f"the body holds an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        _malformed("the body holds a number beyond the range of a double")
    return value


def _constant(_name: str) -> NoReturn:
    _malformed("the body holds NaN or Infinity")


def _malformed(detail: str) -> NoReturn:
    raise Rejected(detail, reason=Reason.MALFORMED_BODY)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)
