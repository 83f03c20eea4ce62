"""Paths into documents, as containers are defined by them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_PROPERTY: Final = re.compile(r"""/(?:"([^"]*)"|'([^']*)'|([^/]*))""")
"""One step of a path; a quoted name may hold slashes."""


@lru_cache
def steps_of(path: str) -> tuple[str, ...]:
    """The names in a path such as ``/customer/id`` or ``/"any text"/id``."""
    return tuple(map("".join, _PROPERTY.findall(path)))
