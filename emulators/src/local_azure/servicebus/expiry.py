"""Wakes queues when something is due in them, by the emulator's clock."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_azure.clock import Clock
    from local_azure.servicebus.queue import Queue


_NEVER = float("inf")


class Expiry:
    """The one timer of all queues."""

    def __init__(self, queues: Sequence[Queue[Any]], clock: Clock) -> None:
        self._queues = queues
        self._clock = clock
        self._waits_for = _NEVER
        self._sooner = asyncio.Event()

    def due(self, moment: float) -> None:
        """Something will be due then."""
        if moment < self._waits_for:
            self._waits_for = moment
            self._sooner.set()

    async def run(self) -> None:
        """Goes on until cancelled."""
        while True:
            for queue in self._queues:
                queue.expire(self._clock.now())
            self._waits_for = min((queue.next_due() for queue in self._queues), default=_NEVER)
            await self._wait()

    async def _wait(self) -> None:
        self._sooner.clear()
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._sooner.wait())]
        if self._waits_for != _NEVER:
            waits.append(asyncio.create_task(self._clock.wait_until(self._waits_for)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
