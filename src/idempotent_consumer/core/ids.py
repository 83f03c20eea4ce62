"""Raw ids in, ids that Cosmos DB stores and routes out; two raw ids never become one.

An ordinary id stays as it is. ``~`` and two upper-case hex digits stand for a byte that
the service or an SDK forbids or misroutes, and for ``~`` itself. Ids that begin with ``~``
and a lower-case letter are reserved: no raw id is ever encoded to one.
"""

from __future__ import annotations

import re
from hashlib import sha256

MAX_ID_BYTES = 255
"""Half a URL's worth; the service itself would store 1,023 bytes."""

_UNSAFE = re.compile(r"[/\\?#%~\x00-\x1f\x7f]|^ | \Z|^\.{1,2}\Z")


def encode_id(raw: str) -> str:
    r"""The id under which a document with this raw id is stored.

    ``/ \\ ? #`` are forbidden or misrouted, ``%`` is decoded by some clients, ``.`` and
    ``..`` as whole ids address the feed and the container itself.

    Raises:
        UnicodeEncodeError: The text holds an unpaired surrogate.
    """
    encoded = _UNSAFE.sub(_escape, raw)
    if len(encoded.encode()) <= MAX_ID_BYTES:
        return encoded
    return f"~d~{sha256(raw.encode()).hexdigest()}"


def _escape(unsafe: re.Match[str]) -> str:
    return "".join(f"~{byte:02X}" for byte in unsafe[0].encode())
