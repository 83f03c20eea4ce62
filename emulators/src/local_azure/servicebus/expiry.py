"""Wakes entities when something is due in them, by the emulator's clock."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.broker.agenda import NEVER

if TYPE_CHECKING:
    from local_azure.clock import Clock
    from local_azure.servicebus.broker.entities import Entities
    from local_azure.servicebus.broker.intake import Intake

_logger = logging.getLogger(__name__)


class Expiry:
    """The one timer of all entities."""

    def __init__(self, entities: Entities[Any], clock: Clock) -> None:
        self._entities = entities
        self._clock = clock
        self._waits_for = NEVER
        self._sooner = asyncio.Event()

    def due(self, moment: float) -> None:
        """Something will be due then."""
        if moment < self._waits_for:
            self._waits_for = moment
            self._sooner.set()

    async def run(self) -> None:
        """Goes on until cancelled."""
        while True:
            for entity in self._entities:
                self._expire(entity)
            self._waits_for = min((entity.next_due() for entity in self._entities), default=NEVER)
            await self._wait()

    def _expire(self, entity: Intake[Any]) -> None:
        try:
            entity.expire(self._clock.now())
        except Exception:  # one entity's failure must not stop the time of the others
            _logger.exception("What was due in '%s' has failed", entity.name)

    async def _wait(self) -> None:
        self._sooner.clear()
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._sooner.wait())]
        if self._waits_for != NEVER:
            waits.append(asyncio.create_task(self._clock.wait_until(self._waits_for)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
