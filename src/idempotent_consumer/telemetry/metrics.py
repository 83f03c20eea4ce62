"""The metrics. Their attributes are few and have few values: nothing in them names a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.metrics import get_meter

from idempotent_consumer.engine.events import Handled
from idempotent_consumer.telemetry import names

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.servicebus.events import WorkerEvent

DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240)
MINUTE, HOUR, DAY = 60, 3600, 86_400
AGE_BUCKETS = (
    *(1, 5, 20, MINUTE, 5 * MINUTE, 20 * MINUTE),
    *(HOUR, 6 * HOUR, DAY, 7 * DAY, 14 * DAY, 30 * DAY),
)


class Metrics:
    """Counts and times deliveries, on instruments that are made once.

    Args:
        entity: The queue's name.
    """

    def __init__(self, entity: str, meter_provider: MeterProvider | None) -> None:
        self._entity = entity
        meter = get_meter(names.SCOPE, meter_provider=meter_provider)
        self._messages = meter.create_counter(names.MESSAGES, "{message}", "Deliveries by outcome")
        self._duration = meter.create_histogram(
            names.DURATION,
            "s",
            "From receipt to settlement",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self._duplicate_age = meter.create_histogram(
            names.DUPLICATE_AGE,
            "s",
            "From the commit of the first copy to the receipt of a later one",
            explicit_bucket_boundaries_advisory=AGE_BUCKETS,
        )

    def record(self, event: Event | WorkerEvent) -> None:
        """Counts the event if it is a delivery's end."""
        if not isinstance(event, Handled):
            return
        outcome = event.outcome
        who = {names.CONSUMER: event.consumer, names.ENTITY: self._entity}
        what = {names.OUTCOME: outcome.name.value}
        why = {names.CAUSE: outcome.cause}
        self._messages.add(1, who | what | why)
        self._duration.record(event.seconds, who | what)
        if outcome.age is not None:
            self._duplicate_age.record(outcome.age.total_seconds(), who | why)
