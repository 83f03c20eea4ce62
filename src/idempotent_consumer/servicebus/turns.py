"""Who may use a receiver now: one alone, or several that get along."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Turns:
    """Turns are taken in the order of asking."""

    def __init__(self) -> None:
        self._gate = asyncio.Lock()
        self._sharing = 0
        self._nobody = asyncio.Event()
        self._nobody.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """A turn with nobody else."""
        async with self._gate:
            await self._nobody.wait()
            yield

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """A turn together with whoever else shares."""
        async with self._gate:
            self._sharing += 1
            self._nobody.clear()
        try:
            yield
        finally:
            self._sharing -= 1
            if not self._sharing:
                self._nobody.set()
