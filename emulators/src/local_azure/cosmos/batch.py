"""Transactional batches: operations on one partition, all of them or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, assert_never

from local_azure.cosmos.charges import METADATA_CHARGE, read_charge, write_charge
from local_azure.cosmos.errors import CosmosError, bad_request
from local_azure.cosmos.patch import read_patch
from local_azure.cosmos.transactions import Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from local_azure.cosmos.documents import Stored
    from local_azure.cosmos.transactions import Transaction

MAX_OPERATIONS: Final = 100
_NAMING: Final = frozenset({"Read", "Replace", "Patch", "Delete"})
"""Those that name their document apart from a body."""
_FAILED_DEPENDENCY: Final = 424

Kind = Literal["Create", "Read", "Replace", "Patch", "Delete", "Upsert"]

Reported = Literal["first", "last"]
"""Which one a failed batch reports, where several of its operations would fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOperation:
    """One operation of a batch.

    Attributes:
        kind: What is done.
        id: The document's id; empty where the body names it.
        body: The document to be written, or the patch.
        condition: ETags that the operation is conditional on.
    """

    kind: Kind
    id: str
    body: Any
    condition: Condition

    @property
    def name(self) -> str:
        """The operation as faults name it."""
        return f"batch_{self.kind.lower()}"

    @property
    def key(self) -> str | None:
        """The document's id, where there is one."""
        named = self.body.get("id") if isinstance(self.body, dict) else None
        return self.id or (named if isinstance(named, str) else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one operation ended."""

    status: int
    sub_status: int = 0
    charge: float = METADATA_CHARGE
    document: Stored | None = None
    is_write: bool = False

    def as_json(self, *, minimal: bool) -> dict[str, Any]:
        """The outcome as the answer's list shows it."""
        shown: dict[str, Any] = {"statusCode": self.status, "requestCharge": self.charge}
        if self.sub_status:
            shown["subStatusCode"] = self.sub_status
        if self.document is not None:
            shown["eTag"] = self.document.etag
        if self.document is not None and not (minimal and self.is_write):
            shown["resourceBody"] = self.document.document
        return shown


def batch_operations(payload: object) -> list[BatchOperation]:
    """Reads a batch's body; raises a `CosmosError` if it is no batch."""
    if not isinstance(payload, list):
        raise bad_request("The input content is invalid because it is not a list of operations.")
    if not payload:
        raise bad_request("Batch request has no operations.")
    if len(payload) > MAX_OPERATIONS:
        raise bad_request("Batch request has more operations than what is supported.")
    return [_operation(item) for item in payload]


def execute(
    operations: Sequence[BatchOperation],
    transaction: Transaction,
    *,
    reported: Reported,
    ordered: Callable[[BatchOperation], CosmosError | None],
) -> list[Outcome]:
    """Carries out all operations and commits them, or reports the one that forbids it.

    Args:
        operations: In order.
        transaction: Where they happen.
        reported: Which one is reported where several forbid it.
        ordered: The failure that befalls an operation on order.
    """
    outcomes = [_outcome(each, transaction, ordered(each)) for each in operations]
    failures = [index for index, outcome in enumerate(outcomes) if outcome.status >= 400]
    if not failures:
        transaction.commit()
        return outcomes
    culprit = failures[0 if reported == "first" else -1]
    return [
        outcome if index == culprit else Outcome(status=_FAILED_DEPENDENCY, charge=0.0)
        for index, outcome in enumerate(outcomes)
    ]


def _operation(item: object) -> BatchOperation:
    if not isinstance(item, dict):
        raise bad_request("An operation of a batch is a JSON object.")
    kind = _kind(item.get("operationType"))
    document_id = item.get("id", "") if kind in _NAMING else ""
    if not isinstance(document_id, str):
        raise bad_request(f"The id of a {kind} in a batch is a string.")
    return BatchOperation(
        kind=kind,
        id=document_id,
        body=item.get("resourceBody"),
        condition=Condition(if_match=item.get("ifMatch"), if_none_match=item.get("ifNoneMatch")),
    )


def _kind(name: object) -> Kind:
    match name:
        case "Create" | "Read" | "Replace" | "Patch" | "Delete" | "Upsert":
            return name
        case _:
            raise bad_request("An operation of the batch has an unknown operationType.")


def _outcome(
    operation: BatchOperation, transaction: Transaction, ordered: CosmosError | None
) -> Outcome:
    try:
        if ordered is not None:
            raise ordered
        return _carried_out(operation, transaction)
    except CosmosError as error:
        return Outcome(status=error.status, sub_status=error.sub_status)


def _carried_out(operation: BatchOperation, transaction: Transaction) -> Outcome:
    name, body, condition = operation.id, operation.body, operation.condition
    match operation.kind:
        case "Create":
            return _written(201, transaction.create(body))
        case "Upsert":
            document, created = transaction.upsert(body, condition)
            return _written(201 if created else 200, document)
        case "Replace":
            return _written(200, transaction.replace(name, body, condition))
        case "Patch":
            return _written(200, transaction.patch(name, read_patch(body), condition))
        case "Read":
            document = transaction.read(name, condition)
            return Outcome(status=200, charge=read_charge(len(document.encoded)), document=document)
        case "Delete":
            deleted = transaction.delete(name, condition)
            return Outcome(status=204, charge=write_charge(len(deleted.encoded)))
        case _ as unknown:
            assert_never(unknown)


def _written(status: int, document: Stored) -> Outcome:
    return Outcome(
        status=status,
        charge=write_charge(len(document.encoded)),
        document=document,
        is_write=True,
    )
