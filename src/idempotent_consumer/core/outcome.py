"""What became of one delivery."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from idempotent_consumer.core.reasons import Reason

if TYPE_CHECKING:
    from datetime import timedelta


class OutcomeName(StrEnum):
    """The outcomes; each metric, log line and row of the settlement table names one."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    MISMATCH = "mismatch"
    REJECTED = "rejected"
    WAITING = "waiting"
    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    MISCONFIGURED = "misconfigured"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one delivery, and why.

    Attributes:
        cause: Why, in a few fixed words: it becomes a metric's attribute.
        reason: Under which a delivery with this outcome is dead-lettered, if it ever is.
        description: What the dead letter and the log say besides; no values of the message.
        age: How long before a duplicate's receipt the marker was committed; zero where it
            was committed later, or by a clock that is ahead.
    """

    name: OutcomeName
    cause: str = ""
    reason: Reason | None = None
    description: str = ""
    age: timedelta | None = None


def rejected(reason: Reason, description: str = "") -> Outcome:
    """The message can never be applied."""
    return Outcome(
        name=OutcomeName.REJECTED, cause=reason.value, reason=reason, description=description
    )


def failed(cause: str, description: str) -> Outcome:
    """The consumer's own code is at fault."""
    return Outcome(
        name=OutcomeName.FAILED,
        cause=cause,
        reason=Reason.HANDLER_ERROR,
        description=description,
    )
