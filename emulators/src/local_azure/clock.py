"""The time that locks, windows and lifetimes run by."""

from __future__ import annotations

import asyncio
import time


class Clock:
    """A clock that can be moved forward, so that nobody waits for a lock to lapse.

    Args:
        frozen_at: Seconds since the epoch at which the clock stands still; it then
            moves by ``advance`` alone. Left out, it runs with the machine's clock.
    """

    def __init__(self, frozen_at: float | None = None) -> None:
        self._frozen_at = frozen_at
        self._advanced = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Seconds since the epoch, by this clock."""
        started = time.time() if self._frozen_at is None else self._frozen_at
        return started + self._advanced

    def advance(self, seconds: float) -> None:
        """Moves the clock forward and wakes whoever waits for the time it now is."""
        if seconds < 0:
            raise ValueError("a clock only moves forward")
        self._advanced += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def on_wall(self, moment: float) -> float:
        """The machine's own time at ``moment``; clients compare the end of a lock with that."""
        return time.time() + (moment - self.now())

    async def wait_until(self, moment: float) -> None:
        """Returns once this clock shows ``moment`` or later."""
        while (remaining := moment - self.now()) > 0:
            timeout = remaining if self._frozen_at is None else None
            try:
                await asyncio.wait_for(self._moved.wait(), timeout)
            except TimeoutError:
                continue
