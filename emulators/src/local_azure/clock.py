"""The time that locks, windows and lifetimes run by."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

_END: Final = 253_370_764_800
"""The year 9999 begins: what is a year ahead of it can still be written as a date."""


@dataclass(eq=False, slots=True)
class _Waiter:
    """Someone who waits, on a loop that may run in another thread than the clock is moved in."""

    loop: asyncio.AbstractEventLoop
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        self.loop.call_soon_threadsafe(self.moved.set)


class Clock:
    """A clock that can be moved forward, so that nobody waits for a lock to lapse.

    It may be moved and read from any thread.

    Args:
        frozen_at: Seconds since the epoch at which the clock stands still; it then
            moves by ``advance`` alone. Left out, it runs with the machine's clock.

    Raises:
        ValueError: The time is before the epoch or after the year 9998.
    """

    def __init__(self, frozen_at: float | None = None) -> None:
        if frozen_at is not None and not 0 <= frozen_at < _END:
            raise ValueError("a clock stands between the years 1970 and 9999")
        self._frozen_at = frozen_at
        self._advanced = 0.0
        self._waiters: set[_Waiter] = set()

    def now(self) -> float:
        """Seconds since the epoch, by this clock."""
        started = time.time() if self._frozen_at is None else self._frozen_at
        return started + self._advanced

    def advance(self, seconds: float) -> None:
        """Moves the clock forward and wakes whoever waits for the time it now is.

        Raises:
            ValueError: It would go back, or reach the year 9999.
        """
        if not 0 <= seconds < _END - self.now():
            raise ValueError("a clock only moves forward, and not as far as the year 9999")
        self._advanced += seconds
        for waiter in tuple(self._waiters):
            waiter.wake()

    def on_wall(self, moment: float) -> float:
        """The machine's own time at ``moment``; clients compare the end of a lock with that."""
        return time.time() + (moment - self.now())

    async def wait_until(self, moment: float) -> None:
        """Returns once this clock shows ``moment`` or later."""
        waiter = _Waiter(asyncio.get_running_loop())
        self._waiters.add(waiter)
        try:
            while (remaining := moment - self.now()) > 0:
                await self._moved_within(remaining, waiter)
        finally:
            self._waiters.discard(waiter)

    async def _moved_within(self, remaining: float, waiter: _Waiter) -> None:
        timeout = remaining if self._frozen_at is None else None
        try:
            await asyncio.wait_for(waiter.moved.wait(), timeout)
        except TimeoutError:
            return
        waiter.moved.clear()
