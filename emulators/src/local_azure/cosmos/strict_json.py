"""JSON as the service reads it: UTF-8, no NaN, numbers that are IEEE-754 doubles."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn

from local_azure.cosmos.errors import CosmosError, bad_request

MAX_DEPTH: Final = 128
"""The service's limit of nested objects and arrays."""

_INVALID: Final = "The input content is invalid because it is not a JSON document."
_EXACT: Final = 2**53


def decode(body: bytes | str) -> Any:
    """Reads one JSON value; what the service would refuse raises a `CosmosError` 400."""
    try:
        text = body if isinstance(body, str) else body.decode()
        value = json.loads(text, parse_constant=_no_constant, parse_int=_int, parse_float=_double)
    except (ValueError, RecursionError) as error:
        raise _refusal() from error
    if text.count("{") + text.count("[") > MAX_DEPTH:
        check_depth(value)
    return value


def check_depth(value: object) -> None:
    """Raises 400 if a value nests deeper than the service allows."""
    if _depth(value) > MAX_DEPTH:
        raise bad_request(f"The input content is invalid: it nests deeper than {MAX_DEPTH} levels.")


def encode(value: object) -> bytes:
    """Writes one JSON value."""
    return json.dumps(value, separators=(",", ":")).encode()


def utf8_size(value: object) -> int:
    """Bytes of a value as JSON in UTF-8, as the service counts them."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return len(text.encode(errors="surrogatepass"))


def _no_constant(_: str) -> NoReturn:
    raise _refusal()


def _double(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _refusal()
    return number


def _int(text: str) -> int:
    """An integer as it survives being stored as a double."""
    number = _double(text)
    return int(text) if abs(number) < _EXACT else int(number)


def _depth(value: object) -> int:
    """How many levels of objects and arrays there are."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [
            child for item in level for child in (item.values() if isinstance(item, dict) else item)
        ]
    return depth


def _refusal() -> CosmosError:
    return bad_request(_INVALID)
