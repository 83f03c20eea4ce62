"""What the engine needs of the world, each as one small protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from idempotent_consumer.core.commit import CommitResult, Fault, ReadResult
    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.request import Place
    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.engine.settled import Settled


class Store(Protocol):
    """One consumer's container. Never raises for what a store can answer, or fail to."""

    async def commit(self, plan: Plan) -> CommitResult:
        """Writes the plan, all or nothing; after a conflict says what stands at its place."""
        ...

    async def read(self, place: Place) -> ReadResult:
        """What stands where a marker belongs."""
        ...

    async def probe(self) -> Fault | None:
        """The fault that a point read meets now; ``None`` if it is answered."""
        ...


class Settler(Protocol):
    """Tells the broker about one delivery."""

    async def settle(self, settlement: Settlement) -> Settled:
        """Called exactly once; never raises for a broker's error."""
        ...


class Clock(Protocol):
    """Time, and the passing of it."""

    def now(self) -> datetime:
        """The time of day, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns after that many seconds."""
        ...


class Telemetry(Protocol):
    """Logs, counts and traces: the only place that does."""

    def handling(self, delivery: Delivery) -> AbstractContextManager[None]:
        """A delivery is handled within it, and `Handled` recorded; never raises by itself."""
        ...

    def record(self, event: Event) -> None:
        """Takes note of an event; never raises, never blocks."""
        ...
