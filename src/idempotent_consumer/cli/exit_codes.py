"""How the commands end; documented in `docs/reference.md`."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a shell, or a supervisor, can tell from how a command ended."""

    DONE = 0
    PROBLEMS = 1
    """The doctor found problems; it says what mends each."""
    USAGE = 2
    """The command line cannot be used; the message says what would be."""
    SETTINGS = 3
    """The app or its settings cannot be used; the message lists every problem."""
    UNREACHABLE = 4
    """A service could not be used; the message says what was tried."""
    BLOCKED = 70
    """The event loop was blocked for too long, so the worker ended itself."""
