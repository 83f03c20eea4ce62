"""`make demo` tells the truth: every row is played for real, and a wrong one is seen."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from local_azure.events import Event
from shop.demo.command import ExitCode, exit_code
from shop.demo.evidence import Evidence
from shop.demo.facts import DeadLetter, Delivery, Facts, Report, Row
from shop.demo.report import show

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "shop", "demo", "--json")

COMPLETED = Delivery(outcome="applied", settlement="complete")
BURIED = Delivery(outcome="rejected", settlement="dead_letter", reason="MalformedBody")


def run_demo(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # our own command
        COMMAND,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_row_is_right_and_every_order_written_once() -> None:
    done = run_demo()
    report = json.loads(done.stdout)
    assert (done.returncode, report["problems"], done.stderr) == (0, [], "")
    assert len(report["rows"]) == 11
    for row in report["rows"]:
        assert row["right"]
        assert row["actual"] == row["expected"]
        assert row["actual"]["store_calls"].count("batch 200") == len(first_handlings(row))
    orders = [document["id"] for document in report["stored"] if document["type"] == "order"]
    assert len(orders) == len({*orders}) == 8
    assert [letter["reason"] for letter in report["dead_letters"]] == [
        "RequestHashMismatch",
        "MalformedBody",
        "MissingMessageId",
        "KeyDisagrees",
    ]
    assert report["seconds"] < 60


def first_handlings(row: dict[str, Any]) -> list[dict[str, str]]:
    """The deliveries that wrote: those applied, and the one whose worker was killed."""
    return [one for one in row["actual"]["deliveries"] if one["outcome"] in {"applied", ""}]


def test_a_worker_that_cannot_start_is_quoted() -> None:
    done = run_demo(IDEMPOTENT_CONSUMER_LOG_KEYS="none")
    assert done.returncode == ExitCode.NOT_PLAYED
    assert "IDEMPOTENT_CONSUMER_LOG_KEYS is neither plain nor digest" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_worker_outlives_it(number: signal.Signals) -> None:
    with subprocess.Popen(COMMAND, cwd=ROOT, stdout=subprocess.DEVNULL) as demo:  # noqa: S603
        children = Path(f"/proc/{demo.pid}/task/{demo.pid}/children")
        while not (workers := children.read_text().split()):
            time.sleep(0.02)
        demo.send_signal(number)
    assert demo.returncode == ExitCode.INTERRUPTED
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def row(actual: Facts, *, stalled: str = "") -> Row:
    expected = Facts(deliveries=(COMPLETED,), store_calls=("batch 200",), documents=3)
    return Row(title="New order", expected=expected, actual=actual, stalled=stalled)


def report(*rows: Row, dead_letters: tuple[DeadLetter, ...] = ()) -> Report:
    return Report(rows=rows, stored=(), dead_letters=dead_letters, seconds=1.0)


RIGHT = row(Facts(deliveries=(COMPLETED,), store_calls=("batch 200",), documents=3))


def test_right_rows_end_with_0() -> None:
    assert exit_code(report(RIGHT)) == 0


@pytest.mark.parametrize(
    ("wrong", "difference"),
    [
        (
            replace(RIGHT.actual, deliveries=(COMPLETED, COMPLETED)),
            "deliveries: expected applied complete, actual applied complete; applied complete",
        ),
        (replace(RIGHT.actual, dropped=1), "dropped: expected 0, actual 1"),
        (
            replace(RIGHT.actual, store_calls=()),
            "store_calls: expected batch 200, actual none",
        ),
        (replace(RIGHT.actual, documents=6), "documents: expected 3, actual 6"),
    ],
)
def test_a_wrong_row_ends_with_1_and_shows_expected_and_actual(
    wrong: Facts, difference: str
) -> None:
    wrong_report = report(RIGHT, row(wrong))
    assert exit_code(wrong_report) == 1
    assert wrong_report.problems == [f"New order: {difference}"]
    assert f"WRONG  New order: {difference}" in printed(wrong_report)


def test_a_scene_that_stalled_is_wrong() -> None:
    stalled = report(row(RIGHT.actual, stalled="the circuit to open"))
    assert exit_code(stalled) == 1
    assert stalled.problems == ["New order: waited in vain for the circuit to open"]


def test_a_dead_letter_that_no_row_tells_of_is_wrong() -> None:
    letter = DeadLetter(message_id="A-1", reason="HandlerError", description="")
    assert exit_code(report(RIGHT, dead_letters=(letter,))) == 1


def printed(report: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    show(report, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def broker(name: str, detail: str | None = None, key: str | None = "A-1") -> Event:
    return Event(at=0.0, service="servicebus", name=name, entity="orders", key=key, detail=detail)


def store(name: str, detail: str) -> Event:
    return Event(
        at=0.0, service="cosmos", name=name, entity="shop/orders", key="A-1", detail=detail
    )


def line(outcome: str, *, delivery_count: int, cause: str = "") -> dict[str, Any]:
    return {
        "message": "message handled",
        "message_id": "A-1",
        "delivery_count": delivery_count,
        "outcome": outcome,
        "cause": cause,
    }


def facts(*events: Event, lines: tuple[dict[str, Any], ...] = ()) -> Facts:
    return Evidence(events=events, lines=lines, documents=()).facts(("A-1",), ("A-1",))


def test_what_the_worker_told_is_joined_with_the_delivery_that_it_told_of() -> None:
    found = facts(
        broker("delivered", "0"),
        broker("lock_expired"),
        broker("delivered", "1"),
        broker("completed"),
        lines=(line("duplicate", delivery_count=2, cause="redelivery"),),
    )
    assert found.deliveries == (
        Delivery(settlement="lock expired"),
        Delivery(outcome="duplicate", cause="redelivery", settlement="complete"),
    )


def test_a_delivery_that_was_given_back_unseen_does_not_count() -> None:
    found = facts(
        broker("delivered", "0"),
        broker("released"),
        broker("delivered", "0"),
        broker("completed"),
        lines=(line("applied", delivery_count=1),),
    )
    assert found.deliveries == (COMPLETED,)


def test_a_dead_letter_shows_its_reason() -> None:
    found = facts(
        broker("delivered", "0"),
        broker("dead_lettered", "MalformedBody"),
        lines=(line("rejected", delivery_count=1),),
    )
    assert found.deliveries == (BURIED,)


def test_messages_of_others_do_not_count() -> None:
    assert facts(broker("delivered", "0", key="A-2")) == Facts()


def test_an_outage_counts_once_and_each_other_call_as_often_as_it_was_made() -> None:
    calls = (("batch", "503"), ("batch", "503"), ("batch", "200"), ("batch", "200"))
    found = facts(*(store(name, status) for name, status in calls))
    assert found.store_calls == ("batch 503 ...", "batch 200", "batch 200")
