"""The log: a line is a fixed text that names what happened, with all else in its fields."""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING

from idempotent_consumer.core.decide import MAX_DESCRIPTION
from idempotent_consumer.core.judge import UNMARKED
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.engine.events import CircuitClosed, CircuitOpened, Handled
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.servicebus.events import (
    HandlingBroke,
    LockNotRenewed,
    QueueAvailable,
    QueueUnavailable,
    WorkerStopped,
)
from idempotent_consumer.telemetry import names
from idempotent_consumer.telemetry.shown import present, reason_name, settlement_name, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.servicebus.events import WorkerEvent
    from idempotent_consumer.telemetry.shown import ShowKey

HANDLED_LEVELS = MappingProxyType(
    {
        OutcomeName.APPLIED: logging.DEBUG,
        OutcomeName.DUPLICATE: logging.INFO,
        OutcomeName.MISMATCH: logging.ERROR,
        OutcomeName.REJECTED: logging.WARNING,
        OutcomeName.WAITING: logging.WARNING,
        OutcomeName.THROTTLED: logging.WARNING,
        OutcomeName.UNAVAILABLE: logging.WARNING,
        OutcomeName.MISCONFIGURED: logging.ERROR,
        OutcomeName.FAILED: logging.ERROR,
    }
)
"""Where all went well; see `_handled_level`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How an event is logged whose fields are logged as they are."""

    message: str
    level: int


LINES: Mapping[type[Event | WorkerEvent], Line] = MappingProxyType(
    {
        CircuitOpened: Line(message=names.CIRCUIT_OPENED, level=logging.ERROR),
        CircuitClosed: Line(message=names.CIRCUIT_CLOSED, level=logging.INFO),
        QueueAvailable: Line(message=names.QUEUE_AVAILABLE, level=logging.INFO),
        QueueUnavailable: Line(message=names.QUEUE_UNAVAILABLE, level=logging.ERROR),
        LockNotRenewed: Line(message=names.LOCK_NOT_RENEWED, level=logging.WARNING),
        HandlingBroke: Line(message=names.HANDLING_BROKE, level=logging.ERROR),
        WorkerStopped: Line(message=names.WORKER_STOPPED, level=logging.INFO),
    }
)

_logger = logging.getLogger(names.LOGGER)


class Log:
    """Writes a line for each event; a message that was applied as it should be, at DEBUG."""

    def __init__(self, show_key: ShowKey) -> None:
        self._show_key = show_key

    def record(self, event: Event | WorkerEvent) -> None:
        """Writes the event's line."""
        if isinstance(event, Handled):
            line = Line(message=names.HANDLED, level=_handled_level(event))
        else:
            line = LINES[type(event)]
        if _logger.isEnabledFor(line.level):
            _logger.log(line.level, line.message, extra=self._fields(event))

    def _fields(self, event: Event | WorkerEvent) -> dict[str, object]:
        """What the line says besides."""
        if isinstance(event, Handled):
            return present(self._handled_fields(event))
        return present(self._own_fields(event))

    def _handled_fields(self, event: Handled) -> dict[str, object]:
        outcome, settlement = event.outcome, event.settlement
        return {
            names.CONSUMER: event.consumer,
            names.KEY: self._show_key(event.key),
            **self._delivery_fields(event.delivery),
            names.OUTCOME: outcome.name.value,
            names.CAUSE: outcome.cause,
            names.DESCRIPTION: outcome.description[:MAX_DESCRIPTION],
            names.SETTLEMENT: settlement_name(settlement),
            names.REASON: reason_name(settlement),
            names.SETTLED: event.settled.value,
            names.SECONDS: event.seconds,
        }

    def _own_fields(self, event: Event | WorkerEvent) -> dict[str, object]:
        own = {field.name: getattr(event, field.name) for field in fields(event)}
        delivery = own.pop("delivery", None)
        return own if delivery is None else self._delivery_fields(delivery) | own

    def _delivery_fields(self, delivery: Delivery) -> dict[str, object]:
        return {
            names.MESSAGE_ID: self._show_key(delivery.message_id),
            names.CORRELATION_ID: shortened(delivery.correlation_id),
            names.DELIVERY_COUNT: delivery.delivery_count,
            names.SEQUENCE_NUMBER: delivery.sequence_number,
        }


def _handled_level(event: Handled) -> int:
    level = HANDLED_LEVELS[event.outcome.name]
    if event.outcome.cause == UNMARKED:  # nothing but a few fields vouches for it
        level = logging.WARNING
    elif event.outcome.cause:  # applied, but not at the first attempt to write
        level = max(level, logging.INFO)
    return level if event.settled is Settled.CONFIRMED else max(level, logging.WARNING)
