"""Pages of results: how many fit, and the token with which a client asks for the next."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json, wire
from local_azure.cosmos.errors import CosmosError, bad_request
from local_azure.cosmos.sql.execution import Position

if TYPE_CHECKING:
    from collections.abc import Iterable

    from local_azure.cosmos.sql.execution import Result
    from local_azure.cosmos.wire import Request

MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
_DEFAULT_ITEMS: Final = 100
_MAX_ITEMS: Final = 1000
_AS_MANY_AS_FIT: Final = -1
_SEAL_BYTES: Final = 12
_SEAL_KEY: Final = secrets.token_bytes(16)


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


def token_of(position: Position, query: bytes) -> str:
    """The continuation token that leads behind a position of a query's results."""
    fields = [position.keys, position.document, position.row, position.count]
    content = strict_json.encode(fields)
    return base64.urlsafe_b64encode(_seal(content, query) + content).decode()


def position_of(token: str | None, query: bytes) -> Position | None:
    """The position that a token leads behind; only the tokens of the same query are taken."""
    if not token:
        return None
    try:
        sealed = base64.b64decode(token, b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise _not_ours() from error
    seal, content = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if not secrets.compare_digest(seal, _seal(content, query)):
        raise _not_ours()
    keys, document, row, count = strict_json.decode(content)
    return Position(keys=_tuples(keys), document=document, row=row, count=count)


def _seal(content: bytes, query: bytes) -> bytes:
    digest = hashlib.blake2b(content, digest_size=_SEAL_BYTES, key=_SEAL_KEY)
    digest.update(b"\n" + query)
    return digest.digest()


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _not_ours() -> CosmosError:
    return bad_request("The continuation token is not one of this query.")
