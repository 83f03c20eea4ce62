"""What the engine reports, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.outcome import Outcome
    from idempotent_consumer.engine.settled import Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """One delivery was handled and settled.

    Attributes:
        key: ``None`` where the message could not be read.
        seconds: From receipt to settlement.
    """

    consumer: str
    key: str | None
    delivery: Delivery
    outcome: Outcome
    settlement: Settlement
    settled: Settled
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitOpened:
    """The store cannot be used; no new message is taken until it answers again."""

    container: str
    cause: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitClosed:
    """The store takes writes again."""

    container: str
    seconds: float


Event = Handled | CircuitOpened | CircuitClosed
