"""The one place that logs and counts; every name that leaves this library stands here.

A line is a fixed text, which names what happened, with everything else in its fields. No
field, and no attribute of a metric, holds anything of a body or of a property's value.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from opentelemetry.metrics import get_meter

from idempotent_consumer.core.decide import (
    MAX_DESCRIPTION,
    Abandon,
    Complete,
    DeadLetter,
    Hold,
)
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.engine.events import CircuitClosed, CircuitOpened, Handled
from idempotent_consumer.engine.ports import Settled
from idempotent_consumer.servicebus.events import (
    HandlingBroke,
    LockNotRenewed,
    QueueAvailable,
    QueueUnavailable,
    WorkerStopped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.metrics import MeterProvider

    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.servicebus.events import WorkerEvent

LOGGER = "idempotent_consumer"
METER = "idempotent_consumer"
MESSAGES = "idempotent_consumer.messages"
"""Counts deliveries, by outcome, cause, consumer and entity."""
DURATION = "idempotent_consumer.processing.duration"
"""Seconds from receipt to settlement, by outcome, consumer and entity."""
DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240)

HANDLED = "message handled"
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
        CircuitOpened: Line(message="circuit opened", level=logging.ERROR),
        CircuitClosed: Line(message="circuit closed", level=logging.INFO),
        QueueAvailable: Line(message="receiving from queue", level=logging.INFO),
        QueueUnavailable: Line(message="queue unavailable", level=logging.ERROR),
        LockNotRenewed: Line(message="lock not renewed", level=logging.WARNING),
        HandlingBroke: Line(message="handling broke", level=logging.ERROR),
        WorkerStopped: Line(message="worker stopped", level=logging.INFO),
    }
)

MAX_TEXT = 256
"""Characters of a text that a sender chose; a key may be as long as a body."""

_logger = logging.getLogger(LOGGER)


class LogTelemetry:
    """Logs to the logger ``idempotent_consumer`` and counts by the OpenTelemetry API.

    A message that was applied as it should is logged at DEBUG, everything else above.

    Args:
        entity: The queue's name, for metrics.
        digest_keys: Show a key as ``sha256:`` and the first 16 hex digits of its SHA-256.
            The MessageId is shown likewise, for it is mostly the key.
        meter_provider: OpenTelemetry's global one where it is left out.
    """

    def __init__(
        self,
        entity: str,
        *,
        digest_keys: bool = False,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._entity = entity
        self._shown_key = _digest if digest_keys else _shortened
        meter = get_meter(METER, meter_provider=meter_provider)
        self._messages = meter.create_counter(MESSAGES, "{message}", "Deliveries by outcome")
        self._duration = meter.create_histogram(
            DURATION,
            "s",
            "From receipt to settlement",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )

    def record(self, event: Event | WorkerEvent) -> None:
        with suppress(Exception):  # neither an exporter nor a log handler may stop a message
            self._log(event)
        with suppress(Exception):
            self._count(event)

    def _log(self, event: Event | WorkerEvent) -> None:
        if isinstance(event, Handled):
            line = Line(message=HANDLED, level=_handled_level(event))
        else:
            line = LINES[type(event)]
        if _logger.isEnabledFor(line.level):
            _logger.log(line.level, line.message, extra=self._fields(event))

    def _fields(self, event: Event | WorkerEvent) -> dict[str, object]:
        """What the line says besides; a field that would say nothing is left out."""
        said = (
            self._handled_fields(event) if isinstance(event, Handled) else self._own_fields(event)
        )
        return {name: value for name, value in said.items() if value not in (None, "")}

    def _count(self, event: Event | WorkerEvent) -> None:
        if isinstance(event, Handled):
            attributes = {
                "outcome": event.outcome.name.value,
                "consumer": event.consumer,
                "entity": self._entity,
            }
            self._messages.add(1, {**attributes, "cause": event.outcome.cause})
            self._duration.record(event.seconds, attributes)

    def _handled_fields(self, event: Handled) -> dict[str, object]:
        outcome, settlement = event.outcome, event.settlement
        return {
            "consumer": event.consumer,
            "key": self._shown_key(event.key),
            **self._delivery_fields(event.delivery),
            "outcome": outcome.name.value,
            "cause": outcome.cause,
            "description": outcome.description[:MAX_DESCRIPTION],
            "settlement": _settlement_name(settlement),
            "reason": settlement.reason.value if isinstance(settlement, DeadLetter) else None,
            "settled": event.settled.value,
            "seconds": event.seconds,
        }

    def _own_fields(self, event: Event | WorkerEvent) -> dict[str, object]:
        own = {field.name: getattr(event, field.name) for field in fields(event)}
        delivery = own.pop("delivery", None)
        return own if delivery is None else self._delivery_fields(delivery) | own

    def _delivery_fields(self, delivery: Delivery) -> dict[str, object]:
        return {
            "message_id": self._shown_key(delivery.message_id),
            "correlation_id": _shortened(delivery.correlation_id),
            "delivery_count": delivery.delivery_count,
            "sequence_number": delivery.sequence_number,
        }


class JsonFormatter(logging.Formatter):
    """One JSON object a line, the fields beside time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        shown = {
            "time": _time(record).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            shown["exception"] = self.formatException(record.exc_info)
        return json.dumps(shown, default=str)


class LineFormatter(logging.Formatter):
    """One line for people: time in UTC, level, message and fields."""

    def format(self, record: logging.LogRecord) -> str:
        shown = "".join(f" {name}={_word(value)}" for name, value in _extra(record).items())
        line = f"{_time(record):%H:%M:%SZ} {record.levelname:<7} {record.getMessage()}{shown}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _handled_level(event: Handled) -> int:
    level = HANDLED_LEVELS[event.outcome.name]
    if event.outcome.cause:  # applied, but not at the first attempt to write
        level = max(level, logging.INFO)
    return level if event.settled is Settled.CONFIRMED else max(level, logging.WARNING)


def _settlement_name(settlement: Settlement) -> str:
    match settlement:
        case Complete():
            return "complete"
        case DeadLetter():
            return "dead_letter"
        case Abandon():
            return "abandon"
        case Hold():
            return "hold"
        case _:
            assert_never(settlement)


def _shortened(text: str | None) -> str | None:
    return None if text is None else text[:MAX_TEXT]


def _digest(key: str | None) -> str | None:
    if key is None:
        return None
    return f"sha256:{sha256(key.encode(errors='surrogatepass')).hexdigest()[:16]}"


_STANDARD_FIELDS = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime"})


def _extra(record: logging.LogRecord) -> dict[str, object]:
    """What was logged besides the message."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS}


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _word(value: object) -> str:
    """The value as one word; quoted where it has blanks or what would break the line."""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    is_word = text.isprintable() and not {*text} & {*' "='}
    return text if is_word else json.dumps(text)
