"""Outcome to settlement: the only place that chooses what the broker is told.

Nothing in it knows which host runs. The stages: *late* is a message whose handler has
failed three times in this process, *last* one whose handler has failed five times, or
that the broker will not deliver again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from idempotent_consumer.core.outcome import OutcomeName

if TYPE_CHECKING:
    from idempotent_consumer.core.outcome import Outcome
    from idempotent_consumer.core.reasons import Reason


@dataclass(frozen=True, slots=True)
class Complete:
    """The message is done with; the broker forgets it."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The message goes to the dead-letter queue."""

    reason: Reason
    description: str


@dataclass(frozen=True, slots=True)
class Abandon:
    """The message is delivered again, at once."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The message is left alone: it is delivered again when its lock has lapsed."""


Settlement = Complete | DeadLetter | Abandon | Hold


class Stage(Enum):
    """How often this message may still be tried."""

    EARLY = auto()
    LATE = auto()
    LAST = auto()


class Action(Enum):
    """An entry of the table."""

    COMPLETE = auto()
    DEAD_LETTER = auto()
    ABANDON = auto()
    HOLD = auto()


LATE_AFTER = 3
LAST_AFTER = 5
MAX_DESCRIPTION = 1024
"""Characters; the service takes 4,096, and nothing checks that in the Python SDK."""

TABLE = MappingProxyType(
    {
        #                           early               late                last
        OutcomeName.APPLIED:       (Action.COMPLETE,    Action.COMPLETE,    Action.COMPLETE),
        OutcomeName.DUPLICATE:     (Action.COMPLETE,    Action.COMPLETE,    Action.COMPLETE),
        OutcomeName.MISMATCH:      (Action.DEAD_LETTER, Action.DEAD_LETTER, Action.DEAD_LETTER),
        OutcomeName.REJECTED:      (Action.DEAD_LETTER, Action.DEAD_LETTER, Action.DEAD_LETTER),
        OutcomeName.WAITING:       (Action.HOLD,        Action.HOLD,        Action.DEAD_LETTER),
        OutcomeName.THROTTLED:     (Action.HOLD,        Action.HOLD,        Action.DEAD_LETTER),
        OutcomeName.UNAVAILABLE:   (Action.HOLD,        Action.HOLD,        Action.DEAD_LETTER),
        OutcomeName.MISCONFIGURED: (Action.HOLD,        Action.HOLD,        Action.DEAD_LETTER),
        OutcomeName.FAILED:        (Action.ABANDON,     Action.HOLD,        Action.DEAD_LETTER),
    }
)  # fmt: skip


def stage_of(*, failures: int, deliveries_left: int) -> Stage:
    """The stage of a message.

    Args:
        failures: How often its handler has failed in this process, this time included.
        deliveries_left: How often the broker will still deliver it after this time.
    """
    if failures >= LAST_AFTER or deliveries_left <= 0:
        return Stage.LAST
    return Stage.LATE if failures >= LATE_AFTER else Stage.EARLY


def decide(outcome: Outcome, stage: Stage) -> Settlement:
    """What the broker is told of a delivery with this outcome."""
    early, late, last = TABLE[outcome.name]
    action = {Stage.EARLY: early, Stage.LATE: late, Stage.LAST: last}[stage]
    match action:
        case Action.COMPLETE:
            return Complete()
        case Action.ABANDON:
            return Abandon()
        case Action.HOLD:
            return Hold()
        case Action.DEAD_LETTER:
            return _dead_letter(outcome)
        case _:
            assert_never(action)


def _dead_letter(outcome: Outcome) -> DeadLetter:
    if outcome.reason is None:
        raise ValueError(f"{outcome.name} is dead-lettered, so it needs a reason")
    sendable = outcome.description.encode(errors="backslashreplace").decode()
    return DeadLetter(outcome.reason, sendable[:MAX_DESCRIPTION])
