"""The plan: all that one message writes, checked against Cosmos DB's limits before any I/O."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from idempotent_consumer.core.reasons import Reason, Rejected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from idempotent_consumer.core.request import Place
    from idempotent_consumer.core.writes import Write

MAX_OPERATIONS = 100
MAX_BYTES = 2 * 1024 * 1024
"""Of one document, and of all documents of a batch together."""
NEVER = -1
"""The ``ttl`` of a document that does not expire, whatever its container's default is."""


class RefusedPlan(Exception):
    """The handler returned what no store could take: a bug of the handler.

    Args:
        detail: What is wrong with it; quotes nothing of the message.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one message writes, all or nothing.

    Attributes:
        place: Where the marker is written; operation 0 writes it.
        operations: One or more, in order, with documents as they are stored.
    """

    place: Place
    operations: tuple[Write, ...]


def check_plan(plan: Plan) -> None:
    """Refuses what the service would refuse, and what would break the plan's own promise.

    Raises:
        Rejected: ``TooManyDocuments``, ``TooLarge``.
        RefusedPlan: Two documents of one id, a bad ``ttl``, values that are not JSON.
    """
    if len(plan.operations) > MAX_OPERATIONS:
        raise Rejected(
            f"{len(plan.operations)} documents, a batch holds {MAX_OPERATIONS}",
            reason=Reason.TOO_MANY_DOCUMENTS,
        )
    _check_ids(plan.operations)
    _check_size(plan)
    for operation in plan.operations:
        check_ttl(operation.document.get("ttl", NEVER))


def _check_ids(operations: Sequence[Write]) -> None:
    ids = Counter(operation.document["id"] for operation in operations)
    if ids.most_common(1)[0][1] > 1:
        raise RefusedPlan("two documents of the plan have one id")


def _check_size(plan: Plan) -> None:
    if sum(_wire_bytes(operation.document) for operation in plan.operations) > MAX_BYTES:
        raise Rejected(f"the documents exceed {MAX_BYTES} bytes", reason=Reason.TOO_LARGE)


def _wire_bytes(document: Mapping[str, Any]) -> int:
    """The document's size as azure-cosmos sends it: without spaces, in ASCII."""
    try:
        return len(json.dumps(document, separators=(",", ":"), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise RefusedPlan(f"a document is not JSON ({type(error).__name__})") from None


def check_ttl(ttl: object) -> None:
    """A ``ttl`` is -1 or whole seconds.

    Raises:
        RefusedPlan: It is neither.
    """
    if isinstance(ttl, bool) or not isinstance(ttl, int) or not (ttl == NEVER or ttl > 0):
        refuse("a ttl is neither -1 nor a whole number of seconds")


def refuse(detail: str) -> NoReturn:
    """Raises `RefusedPlan`."""
    raise RefusedPlan(detail)
