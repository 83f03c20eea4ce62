"""What a store answers: facts, never a boolean, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonObject
    from idempotent_consumer.core.marker import Illegible, Marker
    from idempotent_consumer.core.reasons import Reason


class FaultKind(StrEnum):
    """What kind of trouble kept the store from answering."""

    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    MISCONFIGURED = "misconfigured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """No answer to the question: the write may have happened or not.

    Attributes:
        cause: A status such as ``503`` or ``404/1003``, or ``timeout``, ``connection``,
            ``budget``. Few values: it becomes a metric's attribute.
        retry_after: Seconds that the service asked to wait.
        local: It says something about one document (449), nothing about the store.
        advice: What would mend a misconfiguration, for the log.
    """

    kind: FaultKind
    cause: str
    retry_after: float | None = None
    local: bool = False
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Committed:
    """The plan is stored, all of it."""


@dataclass(frozen=True, slots=True)
class Exists:
    """Nothing was stored: a marker stands at the plan's place."""

    marker: Marker | Illegible


@dataclass(frozen=True, slots=True)
class Unmarked:
    """Nothing was stored: a document without a marker stands at the plan's place."""

    document: JsonObject


@dataclass(frozen=True, slots=True)
class Collided:
    """Nothing was stored: this operation met a document, and none stands at the plan's place.

    Attributes:
        operation: Its number in the plan; 0 carries the marker.
        unique_keys: The container has unique keys, so the document may stand anywhere in
            the partition.
    """

    operation: int
    unique_keys: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was stored, and never will be: the store does not take these documents.

    Attributes:
        operation: The number in the plan of the one that it does not take, where it said so.
    """

    reason: Reason
    cause: str
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class Faulted:
    """Nobody knows whether anything was stored."""

    fault: Fault


@dataclass(frozen=True, slots=True)
class Absent:
    """A read found nothing at the place."""


CommitResult = Committed | Exists | Unmarked | Collided | Refused | Faulted
ReadResult = Absent | Exists | Unmarked | Faulted
