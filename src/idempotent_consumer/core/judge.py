"""Facts to outcome: what a store's answer means for the delivery that asked.

Everything that tells an applied message from a duplicate, a mismatch or trouble is in this
file, and nothing in it knows which store answered or which host runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from idempotent_consumer.core.canonical import canonical
from idempotent_consumer.core.commit import (
    Absent,
    Collided,
    Committed,
    Exists,
    Fault,
    Faulted,
    Refused,
    Unmarked,
)
from idempotent_consumer.core.marker import Illegible, Marker
from idempotent_consumer.core.outcome import Outcome, OutcomeName, rejected
from idempotent_consumer.core.pointers import ABSENT, Pointer
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.core.request_hash import MAX_NAMED_FIELDS

if TYPE_CHECKING:
    from idempotent_consumer.core.commit import CommitResult, ReadResult
    from idempotent_consumer.core.delivery import JsonObject
    from idempotent_consumer.core.request import Request

UNMARKED = "document without marker"
"""The cause of a duplicate that the immutable fields alone vouch for."""

MAX_NAMES = 10
MAX_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One handling of one delivery.

    Attributes:
        token: Drawn for this handling alone.
        received_at: When it began, by the consumer's clock.
        immutable: The fields that compare a document from before markers.
    """

    request: Request
    token: str
    received_at: datetime
    immutable: tuple[str, ...] = ()


def judge_commit(result: CommitResult, attempt: Attempt) -> Outcome:
    """The outcome that the answer to a commit stands for."""
    match result:
        case Committed():
            return Outcome(name=OutcomeName.APPLIED)
        case Exists(marker):
            return _judge_marker(marker, attempt)
        case Unmarked(document):
            return _judge_unmarked(document, attempt)
        case Collided(operation=0, unique_keys=False):
            return _trouble(OutcomeName.UNAVAILABLE, "conflict without document")
        case Collided(operation):
            return rejected(Reason.CONFLICT_NOT_DUPLICATE, f"{_nth(operation)} exists already")
        case Refused(reason, cause, operation):
            what = "the plan" if operation is None else _nth(operation)
            return rejected(reason, f"Cosmos DB answered {cause} to {what}")
        case Faulted(fault):
            return _judge_fault(fault)
        case _:
            assert_never(result)


def _nth(operation: int) -> str:
    return f"document {operation + 1} of the plan"


def judge_read(result: ReadResult, attempt: Attempt) -> Outcome | None:
    """The outcome that a read of the marker settles; ``None`` if it is yet to be applied."""
    match result:
        case Absent():
            return None
        case Exists() | Unmarked() | Faulted():
            return judge_commit(result, attempt)
        case _:
            assert_never(result)


def _judge_marker(marker: Marker | Illegible, attempt: Attempt) -> Outcome:
    request = attempt.request
    if isinstance(marker, Illegible):
        return Outcome(
            name=OutcomeName.WAITING,
            cause="illegible marker",
            reason=Reason.UNVERIFIABLE_DUPLICATE,
            description="the stored marker is of an unknown kind",
        )
    if marker.token == attempt.token:
        return Outcome(name=OutcomeName.APPLIED, cause="own write recovered")
    if marker.consumer != request.consumer:
        return rejected(Reason.CONFLICT_NOT_DUPLICATE, "another consumer's marker stands there")
    received = request.content_under(marker.request_hash.selection)
    if received.digest() == marker.request_hash.digest:
        return Outcome(
            name=OutcomeName.DUPLICATE,
            cause=_duplicate_cause(marker, attempt),
            age=max(attempt.received_at - marker.committed_at, timedelta()),
        )
    return _mismatch(
        f"stored {marker.request_hash.digest[:12]}, received {received.digest()[:12]}",
        received.differing(marker.field_digests, marker.token) or [_unrecorded(marker)],
    )


def _unrecorded(marker: Marker) -> str:
    """What a mismatch is about if no recorded field differs."""
    elsewhere = "type or properties"
    if len(marker.field_digests) < MAX_NAMED_FIELDS:
        return elsewhere
    return f"a field beyond the first {MAX_NAMED_FIELDS}, {elsewhere}"


def _duplicate_cause(marker: Marker, attempt: Attempt) -> str:
    """Where this copy comes from; the first that fits."""
    if marker.committed_at > attempt.received_at:
        return "concurrent copy"
    if marker.sequence_number == attempt.request.delivery.sequence_number:
        return "redelivery"
    return "producer re-send"


def _judge_unmarked(document: JsonObject, attempt: Attempt) -> Outcome:
    stored, received = (
        _immutable_fields(attempt, body) for body in (document, attempt.request.payload.body)
    )
    if not stored and not received:
        return rejected(
            Reason.UNVERIFIABLE_DUPLICATE,
            "a document without a marker stands there, and no immutable field to compare it by",
        )
    names = [text for text in attempt.immutable if stored.get(text) != received.get(text)]
    if names:
        return _mismatch("a document without a marker stands there", names)
    return Outcome(name=OutcomeName.DUPLICATE, cause=UNMARKED)


def _immutable_fields(attempt: Attempt, document: JsonObject) -> dict[str, str]:
    """The canonical texts of the immutable fields that the document has."""
    found = {text: Pointer(text).find(document) for text in attempt.immutable}
    return {text: canonical(value) for text, value in found.items() if value is not ABSENT}


def _mismatch(found: str, names: list[str]) -> Outcome:
    shown = ", ".join(name[:MAX_NAME] for name in names[:MAX_NAMES])
    return Outcome(
        name=OutcomeName.MISMATCH,
        reason=Reason.REQUEST_HASH_MISMATCH,
        description=f"{found}; differing: {shown}",
    )


def _judge_fault(fault: Fault) -> Outcome:
    return _trouble(OutcomeName(fault.kind.value), fault.cause, fault.advice)


def _trouble(name: OutcomeName, cause: str, advice: str = "") -> Outcome:
    return Outcome(
        name=name,
        cause=cause,
        reason=Reason.RETRIES_EXHAUSTED,
        description="; ".join(filter(None, (f"{name}: {cause}", advice))),
    )
