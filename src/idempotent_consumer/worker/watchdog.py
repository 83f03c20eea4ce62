"""Ends a process whose event loop no longer turns, so that another can take over.

A decoder or handler that blocks keeps every lock from being renewed and every settlement
from being sent; nothing inside of the loop can notice that.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h."""
CHECKS = 10
"""So many checks in a row must find that the loop has not turned."""


def end_process() -> None:
    """Shows where each thread stands, without any value, and ends the process at once."""
    sys.stderr.write("The event loop is blocked; the process ends.\n")
    faulthandler.dump_traceback(all_threads=True)
    os._exit(EXIT_CODE)


class Watchdog:
    """Watches the running loop within its context, from a thread of its own.

    Checks are counted, not seconds: a machine that slept has missed none.

    Args:
        limit: Seconds for which the loop may stand still.
        end: Called, in that thread, when it stood still for longer.
    """

    def __init__(self, limit: float, *, end: Callable[[], None] = end_process) -> None:
        self._limit = limit
        self._pause = limit / CHECKS
        self._end = end
        self._turned = False
        self._missed = 0
        self._done = threading.Event()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._turn(asyncio.get_running_loop())
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        faulthandler.cancel_dump_traceback_later()
        if self._timer is not None:
            self._timer.cancel()

    def check(self) -> None:
        """Looks whether the loop has turned since the last check."""
        self._missed = 0 if self._turned else self._missed + 1
        self._turned = False
        if self._missed >= CHECKS:
            self._end()

    def turned(self) -> None:
        """The loop turns."""
        self._turned = True

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self.turned()
        # A regular expression gone wild keeps the GIL, so that no other thread of Python runs;
        # this timer needs no GIL, but ends the process with code 1.
        faulthandler.dump_traceback_later(2 * self._limit, exit=True)
        self._timer = loop.call_later(self._pause / 2, self._turn, loop)

    def _watch(self) -> None:
        while not self._done.wait(self._pause):
            self.check()
