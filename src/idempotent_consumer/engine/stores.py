"""Wrappers round a store, each itself a store: a time limit, the circuit's watch, retries."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from idempotent_consumer.core.commit import Collided, Fault, Faulted, FaultKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from idempotent_consumer.core.commit import CommitResult, ReadResult
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.request import Place
    from idempotent_consumer.engine.circuit import Circuit
    from idempotent_consumer.engine.ports import Clock, Store

CALL_LIMIT = 10.0
"""Seconds; Cosmos DB itself gives up an operation after 5."""
FIRST_DELAY = 0.1
LONGEST_DELAY = 15.0

Result = TypeVar("Result")


class TimeLimited:
    """Answers a call that takes too long with a fault; the SDK's own limit cuts no call short."""

    def __init__(self, store: Store, seconds: float = CALL_LIMIT) -> None:
        self._store = store
        self._seconds = seconds

    async def commit(self, plan: Plan) -> CommitResult:
        """See `Store`."""
        return await self._limited(self._store.commit(plan), Faulted(_TIMEOUT))

    async def read(self, place: Place) -> ReadResult:
        """See `Store`."""
        return await self._limited(self._store.read(place), Faulted(_TIMEOUT))

    async def probe(self) -> Fault | None:
        """See `Store`."""
        return await self._limited(self._store.probe(), _TIMEOUT)

    async def _limited(self, call: Awaitable[Result], late: Result) -> Result:
        try:
            async with asyncio.timeout(self._seconds):
                return await call
        except TimeoutError:
            return late


class Watched:
    """Reports every answer to the circuit."""

    def __init__(self, store: Store, circuit: Circuit) -> None:
        self._store = store
        self._circuit = circuit

    async def commit(self, plan: Plan) -> CommitResult:
        """See `Store`."""
        result = await self._store.commit(plan)
        if isinstance(result, Faulted):
            self._circuit.faulted(plan.place.partition, result.fault)
        else:
            self._circuit.committed()
        return result

    async def read(self, place: Place) -> ReadResult:
        """See `Store`."""
        result = await self._store.read(place)
        if isinstance(result, Faulted):
            self._circuit.faulted(place.partition, result.fault)
        else:
            self._circuit.answered()
        return result

    async def probe(self) -> Fault | None:
        """See `Store`."""
        return await self._store.probe()


class Retrying:
    """Asks again, with growing delays, until the store answers or the budget is gone.

    Args:
        deadline: By the clock's `monotonic`; no call begins after it.
        chance: Draws between 0 and 1.
    """

    def __init__(
        self, store: Store, clock: Clock, *, deadline: float, chance: Callable[[], float]
    ) -> None:
        self._store = store
        self._clock = clock
        self._deadline = deadline
        self._chance = chance

    async def commit(self, plan: Plan) -> CommitResult:
        """See `Store`. A marker that conflicts and is not there is committed once more."""
        result = await self._answer(lambda: self._store.commit(plan))
        if isinstance(result, Collided) and result.operation == 0:
            result = await self._answer(lambda: self._store.commit(plan))
        return result

    async def read(self, place: Place) -> ReadResult:
        """See `Store`."""
        return await self._answer(lambda: self._store.read(place))

    async def probe(self) -> Fault | None:
        """See `Store`."""
        return await self._store.probe()

    async def _answer(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        delay = FIRST_DELAY
        while isinstance(result := await ask(), Faulted):
            pause = max(delay * (1 + self._chance()) / 2, result.fault.retry_after or 0)
            if self._clock.monotonic() + pause >= self._deadline:
                break
            await self._clock.sleep(pause)
            delay = min(2 * delay, LONGEST_DELAY)
        return result


_TIMEOUT = Fault(kind=FaultKind.UNAVAILABLE, cause="timeout")
