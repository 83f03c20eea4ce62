"""The table as the pattern states it, row by row in its own words."""

from __future__ import annotations

import pytest

from idempotent_consumer.core.decide import (
    MAX_DESCRIPTION,
    Abandon,
    Complete,
    DeadLetter,
    Hold,
    Stage,
    decide,
    stage_of,
)
from idempotent_consumer.core.outcome import Outcome, OutcomeName
from idempotent_consumer.core.reasons import Reason

DONE = {OutcomeName.APPLIED, OutcomeName.DUPLICATE}
HOPELESS = {OutcomeName.MISMATCH, OutcomeName.REJECTED}
every_stage = pytest.mark.parametrize("stage", Stage)


def settlement_of(name: OutcomeName, stage: Stage) -> object:
    return decide(Outcome(name=name, reason=Reason.HANDLER_ERROR, description="why"), stage)


@every_stage
@pytest.mark.parametrize("name", OutcomeName)
def test_a_message_is_completed_if_and_only_if_it_is_applied(
    name: OutcomeName, stage: Stage
) -> None:
    assert (name in DONE) == (settlement_of(name, stage) == Complete())


@every_stage
@pytest.mark.parametrize("name", sorted(HOPELESS))
def test_what_can_never_be_applied_is_dead_lettered_at_once(
    name: OutcomeName, stage: Stage
) -> None:
    assert DeadLetter(Reason.HANDLER_ERROR, "why") == settlement_of(name, stage)


@pytest.mark.parametrize("stage", [Stage.EARLY, Stage.LATE])
@pytest.mark.parametrize("name", sorted(set(OutcomeName) - DONE - HOPELESS - {OutcomeName.FAILED}))
def test_what_may_be_applied_later_waits_for_its_lock_to_lapse(
    name: OutcomeName, stage: Stage
) -> None:
    """Abandoning would deliver it again at once, and wear out its deliveries."""
    assert Hold() == settlement_of(name, stage)


@pytest.mark.parametrize("name", sorted(set(OutcomeName) - DONE))
def test_on_its_last_delivery_nothing_is_left_to_the_broker(name: OutcomeName) -> None:
    """The broker would dead-letter it as MaxDeliveryCountExceeded, without the cause."""
    assert DeadLetter(Reason.HANDLER_ERROR, "why") == settlement_of(name, Stage.LAST)


def test_a_failed_handler_is_tried_again_at_once_and_later_with_delay() -> None:
    assert Abandon() == settlement_of(OutcomeName.FAILED, Stage.EARLY)
    assert Hold() == settlement_of(OutcomeName.FAILED, Stage.LATE)


@pytest.mark.parametrize(
    ("failures", "deliveries_left", "stage"),
    [
        (0, 9, Stage.EARLY),
        (2, 9, Stage.EARLY),
        (3, 9, Stage.LATE),
        (4, 9, Stage.LATE),
        (5, 9, Stage.LAST),
        (0, 1, Stage.EARLY),
        (0, 0, Stage.LAST),
        (0, -1, Stage.LAST),
    ],
)
def test_the_stage_follows_from_failures_and_deliveries(
    failures: int, deliveries_left: int, stage: Stage
) -> None:
    assert stage is stage_of(failures=failures, deliveries_left=deliveries_left)


def test_a_description_fits_the_broker() -> None:
    outcome = Outcome(
        name=OutcomeName.REJECTED, reason=Reason.REJECTED_BY_HANDLER, description="x" * 5000
    )
    assert DeadLetter(Reason.REJECTED_BY_HANDLER, "x" * MAX_DESCRIPTION) == decide(
        outcome, Stage.EARLY
    )


def test_what_is_dead_lettered_has_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        decide(Outcome(name=OutcomeName.REJECTED), Stage.EARLY)
