from __future__ import annotations

import json
import logging
import re
import sys
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from idempotent_consumer.core.decide import (
    Abandon,
    Complete,
    DeadLetter,
    Hold,
    Settlement,
    Stage,
    decide,
)
from idempotent_consumer.core.delivery import Delivery
from idempotent_consumer.core.judge import UNMARKED
from idempotent_consumer.core.outcome import Outcome, OutcomeName
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.engine.events import CircuitClosed, CircuitOpened, Event, Handled
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.servicebus.events import WorkerEvent
from idempotent_consumer.telemetry import (
    DURATION,
    HANDLED,
    LINES,
    LOGGER,
    MAX_TEXT,
    MESSAGES,
    JsonFormatter,
    LineFormatter,
    LogTelemetry,
    names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CANARY = "canary-5f0e"


def handled(
    outcome: Outcome | None = None,
    *,
    key: str | None = "order-1",
    settlement: Settlement | None = None,
    settled: Settled = Settled.CONFIRMED,
) -> Handled:
    return Handled(
        consumer="order-processor",
        key=key,
        delivery=Delivery(
            message_id=key,
            body=b"{}",
            lock_token="lock",
            delivery_count=2,
            sequence_number=7,
            correlation_id="basket 9",
        ),
        outcome=outcome or Outcome(name=OutcomeName.APPLIED),
        settlement=settlement or Complete(),
        settled=settled,
        seconds=0.25,
    )


class Lines(logging.Handler):
    """Keeps the records that reach it."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def one(self) -> Any:
        """The only record; its fields are attributes that `LogRecord` does not declare."""
        (record,) = self.records
        return record


@pytest.fixture
def lines() -> Iterator[Lines]:
    logger, handler = logging.getLogger(LOGGER), Lines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.setLevel(level)
    logger.removeHandler(handler)


@pytest.mark.parametrize(
    ("name", "level"),
    [
        (OutcomeName.APPLIED, logging.DEBUG),
        (OutcomeName.DUPLICATE, logging.INFO),
        (OutcomeName.MISMATCH, logging.ERROR),
        (OutcomeName.REJECTED, logging.WARNING),
        (OutcomeName.WAITING, logging.WARNING),
        (OutcomeName.THROTTLED, logging.WARNING),
        (OutcomeName.UNAVAILABLE, logging.WARNING),
        (OutcomeName.MISCONFIGURED, logging.ERROR),
        (OutcomeName.FAILED, logging.ERROR),
    ],
)
def test_the_outcome_decides_the_level(lines: Lines, name: OutcomeName, level: int) -> None:
    LogTelemetry("orders").record(handled(Outcome(name=name)))
    assert lines.one().levelno == level
    assert lines.one().outcome == name


def test_an_own_write_that_was_recovered_is_no_plain_happy_path(lines: Lines) -> None:
    recovered = Outcome(name=OutcomeName.APPLIED, cause="own write recovered")
    LogTelemetry("orders").record(handled(recovered))
    assert lines.one().levelno == logging.INFO


@pytest.mark.parametrize("settled", [Settled.LOCK_LOST, Settled.UNKNOWN])
@pytest.mark.parametrize(
    ("name", "level"),
    [(OutcomeName.APPLIED, logging.WARNING), (OutcomeName.MISMATCH, logging.ERROR)],
)
def test_a_settlement_that_is_not_confirmed_warns(
    lines: Lines, settled: Settled, name: OutcomeName, level: int
) -> None:
    LogTelemetry("orders").record(handled(Outcome(name=name), settled=settled))
    assert lines.one().levelno == level
    assert lines.one().settled == settled


def test_the_plain_happy_path_is_quiet_where_debug_is_off(lines: Lines) -> None:
    logging.getLogger(LOGGER).setLevel(logging.INFO)
    LogTelemetry("orders").record(handled())
    assert lines.records == []


@pytest.mark.case("POI-05")
def test_a_line_tells_who_did_what_with_which_message(lines: Lines) -> None:
    mismatch = Outcome(
        name=OutcomeName.MISMATCH,
        reason=Reason.REQUEST_HASH_MISMATCH,
        description="differing: amount",
    )
    LogTelemetry("orders").record(
        handled(mismatch, settlement=DeadLetter(Reason.REQUEST_HASH_MISMATCH, "differing: amount"))
    )
    told = json.loads(JsonFormatter().format(lines.one()))
    assert told.pop("time").endswith("+00:00")
    assert told == {
        "level": "ERROR",
        "logger": "idempotent_consumer",
        "message": HANDLED,
        "consumer": "order-processor",
        "key": "order-1",
        "message_id": "order-1",
        "correlation_id": "basket 9",
        "outcome": "mismatch",
        "description": "differing: amount",
        "settlement": "dead_letter",
        "reason": "RequestHashMismatch",
        "settled": "confirmed",
        "delivery_count": 2,
        "sequence_number": 7,
        "seconds": 0.25,
    }


@pytest.mark.parametrize(
    ("settlement", "name"),
    [
        (Complete(), "complete"),
        (DeadLetter(Reason.TOO_LARGE, ""), "dead_letter"),
        (Abandon(), "abandon"),
        (Hold(), "hold"),
    ],
)
def test_each_settlement_has_its_name(lines: Lines, settlement: Settlement, name: str) -> None:
    LogTelemetry("orders").record(handled(settlement=settlement))
    assert lines.one().settlement == name


def test_a_reason_is_told_only_of_a_dead_letter(lines: Lines) -> None:
    unavailable = Outcome(
        name=OutcomeName.UNAVAILABLE, cause="503", reason=Reason.RETRIES_EXHAUSTED
    )
    LogTelemetry("orders").record(handled(unavailable, settlement=Hold()))
    assert not hasattr(lines.one(), "reason")


def test_the_digest_stands_for_key_and_message_id_alike(lines: Lines) -> None:
    LogTelemetry("orders", digest_keys=True).record(handled())
    digest = f"sha256:{sha256(b'order-1').hexdigest()[:16]}"
    assert (lines.one().key, lines.one().message_id) == (digest, digest)
    assert "order-1" not in JsonFormatter().format(lines.one())


@pytest.mark.parametrize("digest_keys", [False, True])
def test_a_key_that_is_no_unicode_is_logged(lines: Lines, *, digest_keys: bool) -> None:
    LogTelemetry("orders", digest_keys=digest_keys).record(handled(key="\ud800"))
    assert JsonFormatter().format(lines.one()).encode()


@pytest.mark.parametrize("digest_keys", [False, True])
def test_a_message_without_a_key_is_logged_without_one(lines: Lines, *, digest_keys: bool) -> None:
    LogTelemetry("orders", digest_keys=digest_keys).record(handled(key=None))
    assert not hasattr(lines.one(), "key")


def test_what_a_sender_chose_is_shortened(lines: Lines) -> None:
    LogTelemetry("orders").record(handled(key="k" * 100_000))
    assert lines.one().key == "k" * MAX_TEXT


OTHER_EVENTS = [
    (
        CircuitOpened(container="shop/orders", cause="403", advice="grant the role"),
        logging.ERROR,
        "circuit opened",
    ),
    (CircuitClosed(container="shop/orders", seconds=12.5), logging.INFO, "circuit closed"),
]


@pytest.mark.parametrize(("event", "level", "message"), OTHER_EVENTS)
def test_any_other_event_is_logged_with_its_own_fields(
    lines: Lines, event: CircuitOpened | CircuitClosed, level: int, message: str
) -> None:
    LogTelemetry("orders").record(event)
    told = json.loads(JsonFormatter().format(lines.one()))
    assert lines.one().levelno == level
    assert told["message"] == message
    assert told.items() >= {name: getattr(event, name) for name in event.__slots__}.items()


PAGE = (Path(__file__).parents[2] / "docs" / "telemetry.md").read_text("utf-8")
NAMES = [value for name, value in vars(names).items() if name.isupper() and name != "SPAN_PREFIX"]


@pytest.mark.parametrize("name", NAMES)
def test_the_document_knows_each_name(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("event", LINES)
def test_the_document_knows_the_fields_of_each_line(event: type[Event | WorkerEvent]) -> None:
    row = re.search(rf"^\| `{LINES[event].message}` \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert row
    assert row[1] == logging.getLevelName(LINES[event].level)
    own = {field.name for field in fields(event)}
    assert own - {"delivery"} <= set(re.findall(r"`(\w+)`", row[2]))


def test_each_event_has_a_row() -> None:
    assert {Handled, *LINES} == {*get_args(Event), *get_args(WorkerEvent)}


@pytest.mark.parametrize("outcome", OutcomeName)
@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("digest_keys", [False, True])
def test_nothing_of_body_and_properties_leaks(
    lines: Lines, outcome: OutcomeName, stage: Stage, *, digest_keys: bool
) -> None:
    """Whatever the outcome, and whoever formats the record with all that it carries."""
    delivery = Delivery(
        message_id="order-1",
        body=json.dumps({CANARY: CANARY}).encode(),
        lock_token="lock",
        delivery_count=1,
        properties={"tenant": CANARY, CANARY: 1},
    )
    found = Outcome(name=outcome, cause="503", reason=Reason.RETRIES_EXHAUSTED, description="why")
    LogTelemetry("orders", digest_keys=digest_keys).record(
        Handled(
            consumer="order-processor",
            key="order-1",
            delivery=delivery,
            outcome=found,
            settlement=decide(found, stage),
            settled=Settled.CONFIRMED,
            seconds=0.1,
        )
    )
    assert CANARY not in repr(vars(lines.one()))
    assert CANARY not in JsonFormatter().format(lines.one())


class Broken(logging.Handler):
    """What a handler of a user may do."""

    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("the disk is full")


def test_a_broken_log_handler_stops_neither_message_nor_count() -> None:
    reader = InMemoryMetricReader()
    logger, broken = logging.getLogger(LOGGER), Broken()
    logger.addHandler(broken)
    try:
        LogTelemetry("orders", meter_provider=MeterProvider([reader])).record(
            handled(Outcome(name=OutcomeName.MISMATCH))
        )
    finally:
        logger.removeHandler(broken)
    assert points(reader, MESSAGES)[0].value == 1


def points(reader: InMemoryMetricReader, name: str) -> Any:
    """The data points of a metric."""
    told = reader.get_metrics_data()
    assert told is not None
    (scope,) = told.resource_metrics[0].scope_metrics
    (metric,) = [metric for metric in scope.metrics if metric.name == name]
    return metric.data.data_points


def test_deliveries_are_counted_by_outcome_cause_consumer_and_entity() -> None:
    reader = InMemoryMetricReader()
    telemetry = LogTelemetry("orders", meter_provider=MeterProvider([reader]))
    for _ in range(2):
        telemetry.record(handled(Outcome(name=OutcomeName.DUPLICATE, cause="redelivery")))
    (point,) = points(reader, MESSAGES)
    assert point.value == 2
    assert point.attributes == {
        "outcome": "duplicate",
        "cause": "redelivery",
        "consumer": "order-processor",
        "entity": "orders",
    }


def test_processing_is_timed_in_seconds() -> None:
    reader = InMemoryMetricReader()
    telemetry = LogTelemetry("orders", meter_provider=MeterProvider([reader]))
    telemetry.record(handled())
    (point,) = points(reader, DURATION)
    assert (point.count, point.sum) == (1, 0.25)
    assert point.attributes == {
        "outcome": "applied",
        "consumer": "order-processor",
        "entity": "orders",
    }
    assert point.explicit_bounds[0] < 0.01
    assert point.explicit_bounds[-1] == 240


def test_a_duplicate_that_a_few_fields_vouch_for_is_warned_of(lines: Lines) -> None:
    vouched_for = Outcome(name=OutcomeName.DUPLICATE, cause=UNMARKED)
    LogTelemetry("orders").record(handled(vouched_for))
    assert lines.one().levelno == logging.WARNING


def record_of(**fields: object) -> logging.LogRecord:
    told = {"levelname": "INFO", "created": 1_700_000_000.5, "msg": "message handled", **fields}
    return logging.makeLogRecord(told)


def test_the_json_formatter_writes_one_object_a_line() -> None:
    line = JsonFormatter().format(record_of(name="idempotent_consumer", key="a\nb", seconds=0.5))
    assert "\n" not in line
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.500+00:00",
        "level": "INFO",
        "logger": "idempotent_consumer",
        "message": "message handled",
        "key": "a\nb",
        "seconds": 0.5,
    }


def test_the_line_formatter_writes_what_people_read() -> None:
    line = LineFormatter().format(record_of(outcome="duplicate", cause="own write", seconds=0.0123))
    assert line == (
        '22:13:20Z INFO    message handled outcome=duplicate cause="own write" seconds=0.012'
    )


@pytest.mark.parametrize("hostile", ["a\nINFO all is well", "\x1b[2J", "a\u2028b", 'a"b', "k=v"])
def test_no_value_passes_for_more_than_a_value(hostile: str) -> None:
    line = LineFormatter().format(record_of(key=hostile))
    assert line == f"22:13:20Z INFO    message handled key={json.dumps(hostile)}"
    assert line.isprintable()


@pytest.mark.parametrize("formatter", [JsonFormatter(), LineFormatter()])
def test_the_traceback_of_another_library_is_kept(formatter: logging.Formatter) -> None:
    try:
        raise RuntimeError("of another library")
    except RuntimeError:
        record = record_of(exc_info=sys.exc_info())
    assert "RuntimeError: of another library" in formatter.format(record)
