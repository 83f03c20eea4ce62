from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from idempotent_consumer.core.commit import (
    Absent,
    Collided,
    CommitResult,
    Committed,
    Exists,
    Fault,
    Faulted,
    FaultKind,
    Refused,
    Unmarked,
)
from idempotent_consumer.core.judge import MAX_NAME, MAX_NAMES, Attempt, judge_commit, judge_read
from idempotent_consumer.core.marker import Illegible
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.core.request_hash import Selection
from tests.unit.core.samples import NOON, ORDER, delivery, order_consumer

if TYPE_CHECKING:
    from datetime import datetime

REQUEST = order_consumer().read(delivery())
ATTEMPT = Attempt(request=REQUEST, token="mine", received_at=NOON)
THEIRS = REQUEST.marker("theirs", NOON - timedelta(hours=1))

MANY = {f"n{number:03}": "same" for number in range(150)}


def asked(body: object, **more: Any) -> Attempt:
    request = order_consumer().read(delivery(body, **more))
    return Attempt(request=request, token="mine", received_at=NOON)


def fault(kind: FaultKind) -> Faulted:
    return Faulted(Fault(kind=kind, cause="503"))


@pytest.mark.case("MUL-01")
@pytest.mark.parametrize(
    ("result", "name", "reason"),
    [
        (Committed(), "applied", None),
        (Exists(replace(THEIRS, token="mine")), "applied", None),
        (Exists(THEIRS), "duplicate", None),
        (Exists(replace(THEIRS, consumer="other")), "rejected", Reason.CONFLICT_NOT_DUPLICATE),
        (Exists(Illegible()), "waiting", Reason.UNVERIFIABLE_DUPLICATE),
        (Unmarked(ORDER), "rejected", Reason.UNVERIFIABLE_DUPLICATE),
        (Collided(0), "unavailable", Reason.RETRIES_EXHAUSTED),
        (Collided(0, unique_keys=True), "rejected", Reason.CONFLICT_NOT_DUPLICATE),
        (Collided(1), "rejected", Reason.CONFLICT_NOT_DUPLICATE),
        (Refused(Reason.STORE_REJECTED, "400"), "rejected", Reason.STORE_REJECTED),
        (fault(FaultKind.THROTTLED), "throttled", Reason.RETRIES_EXHAUSTED),
        (fault(FaultKind.UNAVAILABLE), "unavailable", Reason.RETRIES_EXHAUSTED),
        (fault(FaultKind.MISCONFIGURED), "misconfigured", Reason.RETRIES_EXHAUSTED),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_each_answer_to_a_commit_has_one_outcome(
    result: CommitResult, name: str, reason: Reason | None
) -> None:
    outcome = judge_commit(result, ATTEMPT)
    assert (name, reason) == (outcome.name, outcome.reason)


def test_a_read_that_finds_nothing_settles_nothing() -> None:
    assert judge_read(Absent(), ATTEMPT) is None


def test_a_read_that_finds_the_marker_is_judged_like_a_conflict() -> None:
    assert judge_read(Exists(THEIRS), ATTEMPT) == judge_commit(Exists(THEIRS), ATTEMPT)


@pytest.mark.parametrize(
    ("committed", "sequence_number", "cause"),
    [
        (NOON + timedelta(seconds=1), 7, "concurrent copy"),
        (NOON - timedelta(seconds=1), 7, "redelivery"),
        (NOON - timedelta(seconds=1), 8, "producer re-send"),
    ],
)
def test_a_duplicate_says_where_it_comes_from(
    committed: Any, sequence_number: int, cause: str
) -> None:
    marker = replace(THEIRS, committed_at=committed, sequence_number=sequence_number)
    assert cause == judge_commit(Exists(marker), ATTEMPT).cause


@pytest.mark.parametrize(
    ("committed", "age"),
    [
        (NOON - timedelta(hours=1), timedelta(hours=1)),
        (NOON + timedelta(seconds=1), timedelta()),
    ],
)
def test_a_duplicate_is_as_old_as_the_marker_and_no_younger_than_now(
    committed: datetime, age: timedelta
) -> None:
    marker = replace(THEIRS, committed_at=committed)
    assert age == judge_commit(Exists(marker), ATTEMPT).age


@pytest.mark.parametrize("result", [Committed(), Exists(replace(THEIRS, token="mine"))])
def test_only_a_duplicate_has_an_age(result: CommitResult) -> None:
    assert judge_commit(result, ATTEMPT).age is None


def test_a_mismatch_names_the_fields_that_differ_and_no_values() -> None:
    changed = asked({**ORDER, "total": 3998, "loyalty": "gold-card"})
    outcome = judge_commit(Exists(THEIRS), changed)
    assert OutcomeName.MISMATCH is outcome.name
    assert outcome.description.endswith("; differing: loyalty, total")
    assert "gold-card" not in outcome.description
    assert f"stored {REQUEST.digest[:12]}, received {changed.request.digest[:12]}" in (
        outcome.description
    )


def test_a_mismatch_outside_the_body_says_so() -> None:
    outcome = judge_commit(Exists(THEIRS), asked(ORDER, subject="cancelled"))
    assert outcome.description.endswith("; differing: type or properties")


@pytest.mark.parametrize(
    ("body", "differing"),
    [
        ({**MANY, "n149": "changed"}, "a field beyond the first 100, type or properties"),
        ({**MANY, "n007": "changed"}, "n007"),
        ({**MANY, "a": "added"}, "a field beyond the first 100, type or properties"),
    ],
    ids=["beyond", "among", "added"],
)
def test_a_record_of_many_fields_names_no_field_that_is_equal(body: Any, differing: str) -> None:
    marker = asked(MANY).request.marker("theirs", NOON)
    description = judge_commit(Exists(marker), asked(body)).description
    assert description.endswith(f"; differing: {differing}")


def test_a_mismatch_shows_few_and_short_names() -> None:
    names = {f"{n:03}" + "x" * 1000: n for n in range(1000)}
    description = judge_commit(Exists(THEIRS), asked(names)).description
    assert len(description) < 100 + MAX_NAMES * (MAX_NAME + 2)


@pytest.mark.case("EVO-06")
def test_the_record_says_what_is_compared() -> None:
    """A consumer that since compares more or less still knows its old records."""
    recorded = order_consumer(hashed=Selection(without=["/total"])).read(delivery())
    marker = recorded.marker("theirs", NOON)
    assert OutcomeName.DUPLICATE is judge_commit(Exists(marker), asked({**ORDER, "total": 1})).name
    assert OutcomeName.MISMATCH is judge_commit(Exists(marker), asked({**ORDER, "x": 1})).name


@pytest.mark.case("EVO-04")
@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({**ORDER, "status": "shipped"}, OutcomeName.DUPLICATE),
        ({**ORDER, "total": 39.980}, OutcomeName.DUPLICATE),
        ({**ORDER, "total": "39.98"}, OutcomeName.MISMATCH),
        ({"orderId": "ord-1001"}, OutcomeName.MISMATCH),
        ({}, OutcomeName.MISMATCH),
    ],
)
def test_a_document_from_before_is_compared_by_its_immutable_fields(
    document: Any, name: OutcomeName
) -> None:
    attempt = replace(ATTEMPT, immutable=("/orderId", "/total", "/absent"))
    assert name is judge_commit(Unmarked(document), attempt).name


@pytest.mark.case("EVO-04")
def test_fields_that_neither_side_has_vouch_for_nothing() -> None:
    outcome = judge_commit(Unmarked({"status": "new"}), replace(ATTEMPT, immutable=("/absent",)))
    assert outcome.reason is Reason.UNVERIFIABLE_DUPLICATE


def test_a_mismatch_with_a_document_from_before_names_the_fields() -> None:
    attempt = replace(ATTEMPT, immutable=("/orderId", "/total"))
    outcome = judge_commit(Unmarked({"orderId": "ord-1001"}), attempt)
    assert outcome.description.endswith("differing: /total")


@pytest.mark.case("POI-06")
@pytest.mark.parametrize(
    ("result", "described"),
    [
        (Collided(1), "document 2 of the plan exists already"),
        (Refused(Reason.STORE_REJECTED, "400/9", 1), "answered 400/9 to document 2 of the plan"),
        (Refused(Reason.STORE_REJECTED, "403/1014"), "answered 403/1014 to the plan"),
    ],
)
def test_it_is_said_which_document_the_store_did_not_take(
    result: CommitResult, described: str
) -> None:
    assert judge_commit(result, ATTEMPT).description.endswith(described)


def test_a_fault_that_can_be_mended_says_how() -> None:
    mendable = Fault(kind=FaultKind.MISCONFIGURED, cause="403", advice="run this")
    outcome = judge_commit(Faulted(mendable), ATTEMPT)
    assert outcome.description == "misconfigured: 403; run this"
