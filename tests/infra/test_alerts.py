"""Each alert fires for what it is about, and tells people where to read on."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from idempotent_consumer.core.decide import Stage, decide
from idempotent_consumer.core.delivery import Delivery
from idempotent_consumer.core.outcome import Outcome, OutcomeName, failed, rejected
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.engine.events import CircuitClosed, CircuitOpened, Handled
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.telemetry import DURATION, LOGGER, MESSAGES, LogTelemetry
from tests.infra.deployed import (
    ACCOUNTS,
    ACTION_GROUPS,
    BUILD,
    ENVIRONMENTS,
    LOG_ALERTS,
    METRIC_ALERTS,
    NAMESPACES,
    WORKBOOKS,
    WORKSPACES,
    alerts,
    only,
)
from tests.infra.kql import NotEvaluated, Row, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from idempotent_consumer.engine.events import Event

INFRA = BUILD.parent
QUERIES = {path.stem: path.read_text("utf-8") for path in sorted(INFRA.glob("kql/*.kql"))}
RUNBOOKS = (INFRA.parent / "docs" / "provision.md").read_text("utf-8")

SEVERITIES = {
    "backlog-stalls": 1,
    "broker-throttled": 2,
    "circuit-opened": 1,
    "dead-lettered": 2,
    "dead-letters": 1,
    "dead-letters-remain": 2,
    "duplicate-rate": 3,
    "failed": 2,
    "mismatch": 1,
    "misconfigured": 1,
    "rejected": 2,
    "store-throttled": 2,
}

MISMATCH = Outcome(name=OutcomeName.MISMATCH, reason=Reason.REQUEST_HASH_MISMATCH)
DUPLICATE = Outcome(name=OutcomeName.DUPLICATE, cause="redelivery")
APPLIED = Outcome(name=OutcomeName.APPLIED)


def handled(outcome: Outcome, stage: Stage = Stage.EARLY) -> Handled:
    return Handled(
        consumer="order-processor",
        key="order-1",
        delivery=Delivery(message_id="order-1", body=b"{}", lock_token="lock", delivery_count=1),
        outcome=outcome,
        settlement=decide(outcome, stage),
        settled=Settled.CONFIRMED,
        seconds=0.1,
    )


class Records(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def text_values(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """A row's Properties: Azure Monitor keeps each of them as text."""
    return {name: str(value) for name, value in fields}


def trace(record: logging.LogRecord) -> Row:
    """The row of AppTraces that a log record becomes."""
    extra = [(name, value) for name, value in vars(record).items() if name not in STANDARD]
    return {"Message": record.getMessage(), "ItemCount": 1, "Properties": text_values(extra)}


def measurements(reader: InMemoryMetricReader) -> Iterator[Row]:
    """The rows of AppMetrics that counters and histograms become."""
    told = reader.get_metrics_data()
    assert told is not None
    for metric in told.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            counted: Any = point
            yield {
                "Name": metric.name,
                "Sum": getattr(counted, "value", None) or getattr(counted, "sum", 0),
                "ItemCount": getattr(counted, "count", 1),
                "Properties": text_values((point.attributes or {}).items()),
            }


def tables(*events: Event) -> dict[str, list[Row]]:
    """What Log Analytics holds once these events were recorded."""
    reader, records = InMemoryMetricReader(), Records()
    logger = logging.getLogger(LOGGER)
    logger.addHandler(records)
    try:
        telemetry = LogTelemetry("orders", meter_provider=MeterProvider([reader]))
        for event in events:
            telemetry.record(event)
    finally:
        logger.removeHandler(records)
    return {
        "AppMetrics": list(measurements(reader)),
        "AppTraces": [trace(record) for record in records.records],
    }


UNEVENTFUL: tuple[Event, ...] = (
    *[handled(APPLIED)] * 60,
    *[handled(DUPLICATE)] * 5,
    handled(Outcome(name=OutcomeName.UNAVAILABLE, cause="503", reason=Reason.RETRIES_EXHAUSTED)),
    CircuitClosed(container="shop/orders", seconds=1.0),
)
"""What happens on a good day: everything here is as it should be."""

FIRES: dict[str, tuple[Event, Row]] = {
    "mismatch": (
        handled(MISMATCH),
        {"Consumer": "order-processor", "Mismatches": 1},
    ),
    "misconfigured": (
        handled(
            Outcome(name=OutcomeName.MISCONFIGURED, cause="403", reason=Reason.RETRIES_EXHAUSTED)
        ),
        {"Consumer": "order-processor", "Cause": "403", "Deliveries": 1},
    ),
    "circuit-opened": (
        CircuitOpened(container="shop/orders", cause="403", advice="grant the role"),
        {"Container": "shop/orders", "Cause": "403", "Openings": 1},
    ),
    "dead-lettered": (
        handled(failed("handler raised", "ValueError"), Stage.LAST),
        {"Consumer": "order-processor", "Reason": "HandlerError", "DeadLetters": 1},
    ),
    "rejected": (
        handled(rejected(Reason.MALFORMED_BODY)),
        {"Consumer": "order-processor", "Cause": "MalformedBody", "Rejected": 1},
    ),
    "failed": (
        handled(failed("handler raised", "ValueError")),
        {"Consumer": "order-processor", "Cause": "handler raised", "Failures": 1},
    ),
}


def test_each_query_has_its_event() -> None:
    assert {*FIRES, "duplicate-rate"} == QUERIES.keys()


@pytest.mark.parametrize("name", FIRES)
def test_what_an_alert_is_about_is_a_row_of_its_query(name: str) -> None:
    """From a real log record or data point to what the alert's own query counts."""
    event, row = FIRES[name]
    assert evaluate(QUERIES[name], tables(*UNEVENTFUL, event)) == [row]


@pytest.mark.parametrize("name", FIRES)
def test_nothing_else_is(name: str) -> None:
    assert evaluate(QUERIES[name], tables(*UNEVENTFUL)) == []


def test_a_mismatch_is_both_a_mismatch_and_a_dead_letter() -> None:
    held = tables(handled(MISMATCH))
    assert evaluate(QUERIES["dead-lettered"], held) == [
        {"Consumer": "order-processor", "Reason": "RequestHashMismatch", "DeadLetters": 1}
    ]


def test_the_duplicate_rate_is_a_percentage_of_all_messages() -> None:
    held = tables(*[handled(APPLIED)] * 60, *[handled(DUPLICATE)] * 20)
    assert evaluate(QUERIES["duplicate-rate"], held) == [
        {"Consumer": "order-processor", "DuplicateRatePercent": 25.0}
    ]


def test_a_few_messages_make_no_rate() -> None:
    held = tables(*[handled(APPLIED)] * 29, *[handled(DUPLICATE)] * 20)
    assert evaluate(QUERIES["duplicate-rate"], held) == []


@pytest.mark.parametrize(
    "query",
    [
        "AppMetrics\n| take 1",
        "AppMetrics\n| where Name contains 'x'",
        "AppMetrics\n| where Name != 'x'",
        "AppMetrics\n| extend Now = now()",
        "AppMetrics\n| summarize Most = max(Sum) by Name",
    ],
)
def test_a_query_beyond_the_evaluator_is_refused_rather_than_guessed(query: str) -> None:
    with pytest.raises((NotEvaluated, SyntaxError)):
        evaluate(query, tables(handled(APPLIED)))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_alert_tells_how_bad_it_is_and_where_to_read_on(environment: str) -> None:
    both = alerts(environment, LOG_ALERTS) | alerts(environment, METRIC_ALERTS)
    assert {name: properties["severity"] for name, properties in both.items()} == SEVERITIES
    for name, properties in both.items():
        assert properties["description"].endswith(f" Runbook: docs/provision.md#{name}")
        assert f"\n### {name}\n" in RUNBOOKS
        assert properties["enabled"] is True


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_query_of_an_alert_is_a_file_and_reads_the_workspace(environment: str) -> None:
    group, workbook = only(environment, ACTION_GROUPS), only(environment, WORKBOOKS)
    asked = {}
    for name, properties in alerts(environment, LOG_ALERTS).items():
        (criterion,) = properties["criteria"]["allOf"]
        asked[name] = criterion["query"]
        assert properties["scopes"] == [only(environment, WORKSPACES)["id"]]
        assert properties["actions"]["actionGroups"] == [group["id"]]
        assert properties["actions"]["customProperties"] == {"workbook": workbook["id"]}
    assert asked == QUERIES


def test_an_alert_that_never_heals_by_itself_does_not_claim_to() -> None:
    for alert in alerts("prod", LOG_ALERTS).values():
        assert alert["autoMitigate"] is False
        assert alert["muteActionsDuration"] == "PT1H"


def test_one_mismatch_is_enough() -> None:
    (criterion,) = alerts("prod", LOG_ALERTS)["mismatch"]["criteria"]["allOf"]
    assert (criterion["metricMeasureColumn"], criterion["timeAggregation"]) == (
        "Mismatches",
        "Total",
    )
    assert (criterion["operator"], criterion["threshold"]) == ("GreaterThan", 0)


METRICS = {
    "dead-letters": [("DeadletteredMessages", "Maximum", "GreaterThan", 0, "orders")],
    "dead-letters-remain": [("DeadletteredMessages", "Maximum", "GreaterThan", 0, "orders")],
    "backlog-stalls": [
        ("ActiveMessages", "Minimum", "GreaterThan", 0, "orders"),
        ("CompleteMessage", "Total", "LessThanOrEqual", 0, "orders"),
    ],
    "broker-throttled": [("ThrottledRequests", "Total", "GreaterThan", 0, None)],
    "store-throttled": [("TotalRequests", "Count", "GreaterThan", 100, "429")],
}


def criterion_row(criterion: dict[str, Any]) -> tuple[str, str, str, int, str | None]:
    values = [value for dimension in criterion["dimensions"] for value in dimension["values"]]
    return (
        criterion["metricName"],
        criterion["timeAggregation"],
        criterion["operator"],
        criterion["threshold"],
        values[0] if values else None,
    )


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_metric_alert_watches_the_queue_or_the_account(environment: str) -> None:
    watched = {}
    for name, properties in alerts(environment, METRIC_ALERTS).items():
        watched[name] = [criterion_row(row) for row in properties["criteria"]["allOf"]]
        scope = ACCOUNTS if name == "store-throttled" else NAMESPACES
        assert properties["scopes"] == [only(environment, scope)["id"]]
        (action,) = properties["actions"]
        assert action["actionGroupId"] == only(environment, ACTION_GROUPS)["id"]
        assert action["webHookProperties"] == {"workbook": only(environment, WORKBOOKS)["id"]}
    assert watched == METRICS


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_dead_letters_are_told_of_at_once_and_then_each_hour_while_any_remains(
    environment: str,
) -> None:
    """A stateful rule keeps silent about a second message while the first one lies there."""
    told = alerts(environment, METRIC_ALERTS)
    at_once, hourly = told["dead-letters"], told["dead-letters-remain"]
    assert at_once["evaluationFrequency"] == "PT1M"
    assert (hourly["evaluationFrequency"], hourly["windowSize"]) == ("PT1H", "PT1H")
    assert {name for name, alert in told.items() if not alert["autoMitigate"]} == {
        "dead-letters-remain"
    }


def workbook_queries() -> list[str]:
    """The queries of the workbook's charts."""
    page = json.loads(only("prod", WORKBOOKS)["properties"]["serializedData"])
    return [item["content"]["query"] for item in page["items"] if "query" in item["content"]]


def test_the_workbook_reads_only_what_is_told() -> None:
    """Names alone are compared: its charts use more of KQL than the evaluator knows."""
    held = tables(*UNEVENTFUL, *(event for event, _ in FIRES.values()))
    rows = [*held["AppMetrics"], *held["AppTraces"]]
    told = {name for row in rows for name in row["Properties"]} | {"correlation_id", "description"}
    text = "\n".join(workbook_queries())
    assert set(re.findall(r"Properties\['(\w+)'\]", text)) <= told
    assert set(re.findall(r"Name == '([^']+)'", text)) == {MESSAGES, DURATION}
    assert set(re.findall(r"Message == '([^']+)'", text)) <= {
        row["Message"] for row in held["AppTraces"]
    }


def test_the_workbook_knows_where_to_look() -> None:
    page = only("prod", WORKBOOKS)["properties"]["serializedData"]
    for kind in (WORKSPACES, NAMESPACES, ACCOUNTS):
        assert only("prod", kind)["id"] in page
    assert not re.search(r"<\w+>", page)
    assert len(workbook_queries()) == 5
