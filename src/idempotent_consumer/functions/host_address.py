"""Where the Functions host listens: it says so on the command line of its worker process."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMMAND_LINE = Path("/proc/self/cmdline")
"""Holds the arguments even where an embedded interpreter was not given them."""


def find_host_address() -> str | None:
    """``host:port``, or ``None`` in a process that no Functions host has started."""
    sources = (sys.argv, sys.orig_argv, _of_process())
    return next(filter(None, map(_named_in, sources)), None)


def _of_process() -> Sequence[str]:
    try:
        return COMMAND_LINE.read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ()


def _named_in(arguments: Iterable[str]) -> str | None:
    options = dict(pairwise(arguments))
    if uri := options.get("--functions-uri"):
        return urlsplit(uri).netloc or None
    host, port = options.get("--host"), options.get("--port")
    return f"{host}:{port}" if host and port else None
