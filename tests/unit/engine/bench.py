"""An engine on fakes, with a queue before it: what the tests of the engine share."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from idempotent_consumer.core.profile import Profile
from idempotent_consumer.engine.circuit import Circuit
from idempotent_consumer.engine.engine import Engine
from idempotent_consumer.engine.events import Handled
from idempotent_consumer.testing import (
    MemoryBroker,
    MemoryStore,
    RecordingTelemetry,
    VirtualClock,
)
from tests.unit.core.samples import ORDER, order_consumer

if TYPE_CHECKING:
    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.outcome import Outcome
    from idempotent_consumer.engine.ports import Store
    from idempotent_consumer.testing import MemorySettler

TOKENS = itertools.count()


@dataclass
class Bench:
    """One consumer with its store and its queue."""

    consumer: Consumer = field(default_factory=order_consumer)
    profile: Profile = field(default_factory=Profile)
    clock: VirtualClock = field(default_factory=VirtualClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    telemetry: RecordingTelemetry = field(default_factory=RecordingTelemetry)

    def __post_init__(self) -> None:
        self.broker = MemoryBroker(clock=self.clock, max_deliveries=self.profile.max_deliveries)
        self.engine = self.new_engine(self.store)

    def new_engine(self, store: Store) -> Engine:
        circuit = Circuit(
            store.probe, container="shop/orders", clock=self.clock, telemetry=self.telemetry
        )
        return Engine(
            self.consumer,
            store,
            circuit,
            profile=self.profile,
            clock=self.clock,
            telemetry=self.telemetry,
            chance=lambda: 1.0,
            new_token=lambda: f"token-{next(TOKENS)}",
        )

    def send(self, body: Any = ORDER, message_id: str | None = "ord-1001", **more: Any) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.broker.send(raw, message_id, **more)

    async def handle_next(self) -> Outcome:
        """Handles what the queue hands over next."""
        received = self.broker.receive()
        assert received is not None
        return await self.clock.run(self._handle_with_renewal(*received))

    async def work(self, until: float, *, healed: float = 0.0) -> None:
        """Consumes like a host of four slots, with renewed locks.

        Args:
            until: By the clock, in seconds; so long new messages are taken.
            healed: When the store's troubles end.
        """
        await self.clock.run(self._work_together(until, healed))

    async def _work_together(self, until: float, healed: float) -> None:
        await asyncio.gather(self._heal(healed), *(self._work(until) for _ in range(4)))

    async def _heal(self, healed: float) -> None:
        if healed:
            await self.clock.sleep(healed - self.clock.monotonic())
            self.store.troubles.clear()

    async def _work(self, until: float) -> None:
        while self.clock.monotonic() < until:
            async with self.engine.circuit.admission():
                received = self.broker.receive()
                if received is not None:
                    await self._handle_with_renewal(*received)
            await self.clock.sleep(1)

    async def _handle_with_renewal(self, delivery: Delivery, settler: MemorySettler) -> Outcome:
        renewal = asyncio.ensure_future(self._renew(settler))
        try:
            return await self.engine.handle(delivery, settler)
        finally:
            renewal.cancel()

    async def _renew(self, settler: MemorySettler) -> None:
        while settler.renew():
            await self.clock.sleep(self.broker.lock / 2)

    @property
    def handled(self) -> list[Handled]:
        return [event for event in self.telemetry.events if isinstance(event, Handled)]

    @property
    def outcomes(self) -> list[str]:
        return [event.outcome.name.value for event in self.handled]
