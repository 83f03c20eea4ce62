"""Resource ids (``_rid``), built like the service's because clients read their structure.

A database's is four bytes, a container's its database's and four more whose top bit is set,
a document's its container's and eight more.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

_ALTERED: Final = b"+-"
"""The service writes ``-`` where base64 has ``/``, which ends a path segment."""
_CONTAINER_BIT: Final = 0x8000_0000


def database_rid(number: int) -> str:
    """The resource id of an account's n-th database."""
    return _text(number.to_bytes(4))


def container_rid(database: str, number: int) -> str:
    """The resource id of a database's n-th container."""
    return _text(_bytes(database) + (_CONTAINER_BIT | number).to_bytes(4))


def document_rid(container: str, number: int) -> str:
    """The resource id of a container's n-th document."""
    return _text(_bytes(container) + number.to_bytes(8, "little"))


def names_database_by_rid(segment: str) -> bool:
    """Whether clients take this path segment for a database's resource id, not for a name."""
    try:
        return len(segment) == 8 and len(_bytes(segment)) == 4
    except (binascii.Error, ValueError):
        return False


def _text(raw: bytes) -> str:
    return base64.b64encode(raw, _ALTERED).decode()


def _bytes(rid: str) -> bytes:
    return base64.b64decode(rid, _ALTERED, validate=True)
