"""The circuit: a store outage stops the intake instead of wearing out deliveries.

Every delivery that nobody can apply counts, and the broker gives up after so many. So a
run of faults opens the circuit, and no new message is taken. Whoever waits then probes the
store with a point read; once that is answered, one message at a time goes through, until
a commit is answered.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING

from idempotent_consumer.engine.events import CircuitClosed, CircuitOpened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from idempotent_consumer.core.commit import Fault
    from idempotent_consumer.engine.ports import Clock, Telemetry

PARTITIONS = 3
"""A run of faults that touches so many partitions is no one partition's trouble."""
PATIENCE = 30.0
"""Seconds after which a run of faults opens the circuit, whatever it touched."""
FIRST_PROBE = 1.0
SLOWEST_PROBE = 15.0


class State(Enum):
    """Whether messages are taken."""

    CLOSED = auto()
    OPEN = auto()
    ON_TRIAL = auto()
    """A probe was answered; one message at a time, until a commit is."""


class Circuit:
    """Watches one container.

    Args:
        probe: Asks the store with a point read; the fault it met, or ``None``.
        container: Its name, for telemetry.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[Fault | None]],
        *,
        container: str,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._probe = probe
        self._container = container
        self._clock = clock
        self._telemetry = telemetry
        self._state = State.CLOSED
        self._turn = asyncio.Lock()
        self._partitions: set[str] = set()
        self._run_began = 0.0
        self._opened = 0.0

    @property
    def closed(self) -> bool:
        """Whether messages are taken freely."""
        return self._state is State.CLOSED

    @asynccontextmanager
    async def admission(self) -> AsyncIterator[bool]:
        """Waits until a message may be taken.

        Yields:
            Whether this is a trial: one message, handled before the context is left.
        """
        async with self._turn:
            await self._until_answered()
            if self._state is State.ON_TRIAL:
                yield True
                return
        yield False

    def faulted(self, partition: str, fault: Fault) -> None:
        """A call for this partition met a fault."""
        if fault.local:
            return
        if not self._partitions:
            self._run_began = self._clock.monotonic()
        self._partitions.add(partition)
        lasted = self._clock.monotonic() - self._run_began
        if self._state is State.ON_TRIAL:
            self._state = State.OPEN
        elif self.closed and (len(self._partitions) >= PARTITIONS or lasted >= PATIENCE):
            self._open(fault)

    def answered(self) -> None:
        """A read was answered: whatever ails the store, it is no outage."""
        self._partitions.clear()

    def committed(self) -> None:
        """A commit was answered, whatever the answer: the store takes writes."""
        self._partitions.clear()
        if not self.closed:
            self._state = State.CLOSED
            lasted = self._clock.monotonic() - self._opened
            self._telemetry.record(CircuitClosed(container=self._container, seconds=lasted))

    def _open(self, fault: Fault) -> None:
        self._state = State.OPEN
        self._opened = self._clock.monotonic()
        self._telemetry.record(
            CircuitOpened(container=self._container, cause=fault.cause, advice=fault.advice)
        )

    async def _until_answered(self) -> None:
        delay = FIRST_PROBE
        while self._state is State.OPEN:
            await self._clock.sleep(delay)
            delay = min(2 * delay, SLOWEST_PROBE)
            if self._state is State.OPEN and await self._probe() is None:
                self._state = State.ON_TRIAL
