"""Pages of results: how many fit, and the token with which a client asks for the next."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import CosmosError, bad_request
from local_azure.cosmos.rest import wire
from local_azure.cosmos.sql.execution import Position

if TYPE_CHECKING:
    from collections.abc import Iterable

    from local_azure.cosmos.rest.wire import Request
    from local_azure.cosmos.sql.execution import Result

MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
_DEFAULT_ITEMS: Final = 100
_MAX_ITEMS: Final = 1000
_AS_MANY_AS_FIT: Final = -1
_SEAL_BYTES: Final = 12
_MAX_CARRIED_BYTES: Final = 2048
_MAX_KEPT_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Encoded results, and the position of the last one if there are more behind it."""

    items: list[bytes]
    end: Position | None

    @property
    def size(self) -> int:
        """Bytes of all results."""
        return sum(map(len, self.items))


def page_size(request: Request) -> int:
    """How many results the client wants at most."""
    header = request.headers.get(wire.MAX_ITEM_COUNT)
    if not header:
        return _DEFAULT_ITEMS
    try:
        wanted = int(header)
    except ValueError:
        wanted = 0
    if wanted < 1 and wanted != _AS_MANY_AS_FIT:
        raise bad_request("The maximum of items a page is -1 or positive.")
    return _MAX_ITEMS if wanted == _AS_MANY_AS_FIT else wanted


def cut_page(results: Iterable[Result], items: int) -> Page:
    """The first results, as many as are wanted and fit into a response."""
    taken: list[bytes] = []
    size, end = 0, Position()
    for result in results:
        encoded = strict_json.encode(result.value)
        size += len(encoded)
        if len(taken) == items or (taken and size > MAX_RESPONSE_BYTES):
            return Page(items=taken, end=end)
        taken.append(encoded)
        end = result.position
    return Page(items=taken, end=None)


class Tokens:
    """Continuation tokens, each of which leads behind a position of one query's results.

    A token stands in a header, so one of a long position holds a number instead, under which
    the position is kept here for a while.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)
        self._numbers = count()
        self._kept: dict[int, bytes] = {}
        self._kept_bytes = 0

    def token_of(self, position: Position, origin: bytes) -> str:
        """The token of a position; `origin` is what the query is told apart by."""
        content = strict_json.encode(
            [position.keys, position.document, position.row, position.count]
        )
        if len(content) > _MAX_CARRIED_BYTES:
            content = strict_json.encode(self._keep(content))
        return base64.urlsafe_b64encode(self._seal(content, origin) + content).decode()

    def position_of(self, token: str | None, origin: bytes) -> Position | None:
        """The position that a token leads behind; only tokens of the same origin are taken."""
        if not token:
            return None
        try:
            sealed = base64.b64decode(token, b"-_", validate=True)
        except (binascii.Error, ValueError) as error:
            raise _not_ours() from error
        seal, content = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
        if not secrets.compare_digest(seal, self._seal(content, origin)):
            raise _not_ours()
        return self._position(json.loads(content))

    def _position(self, content: Any) -> Position:
        if isinstance(content, int):
            if content not in self._kept:
                raise _not_ours()
            content = json.loads(self._kept[content])
        keys, document, row, number = content
        return Position(keys=_tuples(keys), document=document, row=row, count=number)

    def _keep(self, content: bytes) -> int:
        """Keeps a position; the oldest ones make room for it."""
        number = next(self._numbers)
        self._kept[number] = content
        self._kept_bytes += len(content)
        while self._kept_bytes > _MAX_KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.pop(next(iter(self._kept))))
        return number

    def _seal(self, content: bytes, origin: bytes) -> bytes:
        digest = hashlib.blake2b(content, digest_size=_SEAL_BYTES, key=self._key)
        digest.update(b"\n" + origin)
        return digest.digest()


def origin_of(request: Request, container_rid: str) -> bytes:
    """What a query is told apart by: its text, its container, and the part of it that it reads."""
    narrowing = [request.headers.get(name) for name in (*wire.NARROWING, wire.END_EPK)]
    return strict_json.encode([container_rid, *narrowing]) + b"\n" + request.body


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _not_ours() -> CosmosError:
    return bad_request("The continuation token is not one of this query.")
