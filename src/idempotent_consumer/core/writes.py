"""What a handler returns: writes, as values. It does no I/O itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Create:
    """A new document; that it exists already is a conflict.

    Args:
        document: JSON values, with the raw ``id``: whatever Cosmos DB forbids in ids is
            encoded on the way.
    """

    document: Mapping[str, Any]


Write = Create
Writes = Sequence[Write]
