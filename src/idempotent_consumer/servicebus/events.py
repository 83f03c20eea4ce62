"""What the Service Bus side and the worker report, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueUnavailable:
    """The queue cannot be received from; it is tried again.

    Attributes:
        advice: What would mend it, where waiting does not.
        retry_in: Seconds.
    """

    queue: str
    namespace: str
    cause: str
    advice: str
    retry_in: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAvailable:
    """The queue can be received from: for the first time, or again."""

    queue: str
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LockNotRenewed:
    """A lock was not renewed; the delivery goes on and may be handed over a second time.

    Attributes:
        cause: ``lock lost``, or why nobody knows.
    """

    delivery: Delivery
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlingBroke:
    """Handling a delivery raised: a bug of this library. The delivery is not settled.

    Attributes:
        error: The exception's type; its text may quote the message.
    """

    delivery: Delivery
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStopped:
    """The worker takes no more messages, and has let go of those it had.

    Attributes:
        unfinished: Deliveries that outlasted the grace period; not settled.
    """

    queue: str
    unfinished: int


WorkerEvent = QueueUnavailable | QueueAvailable | LockNotRenewed | HandlingBroke | WorkerStopped


class WorkerTelemetry(Protocol):
    """Takes note of what the worker does, as the engine's `Telemetry` does of messages."""

    def record(self, event: WorkerEvent) -> None:
        """Takes note of an event; never raises, never blocks."""
        ...
