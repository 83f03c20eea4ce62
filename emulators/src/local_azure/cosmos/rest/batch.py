"""Batches: operations on one partition, all of them or none; or in bulk, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, assert_never, get_args

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import (
    CosmosError,
    answer_too_large,
    bad_request,
    milliseconds,
    nested_too_deeply,
    ordered_failure,
)
from local_azure.cosmos.rest.charges import METADATA_CHARGE, read_charge, write_charge
from local_azure.cosmos.rest.paging import MAX_RESPONSE_BYTES
from local_azure.cosmos.store.patch import read_patch
from local_azure.cosmos.store.transactions import Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local_azure.cosmos.store.documents import Stored
    from local_azure.cosmos.store.transactions import Transaction
    from local_azure.faults import Fail

MAX_OPERATIONS: Final = 100
_NAMING: Final = frozenset({"Read", "Replace", "Patch", "Delete"})
"""Those that name their document apart from a body."""

Kind = Literal["Create", "Read", "Replace", "Patch", "Delete", "Upsert"]

_NAMES: Final[Mapping[Kind, str]] = MappingProxyType(
    {kind: f"batch_{kind.lower()}" for kind in get_args(Kind)}
)
PARTS: Final = frozenset(_NAMES.values())
"""The operations of batches as faults name them."""

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
        partition_key: In bulk the operation's own, as a request's header would name it.
    """

    kind: Kind
    id: str
    body: Any
    condition: Condition
    partition_key: Any

    @property
    def name(self) -> str:
        """The operation as faults name it."""
        return _NAMES[self.kind]

    @property
    def key(self) -> str | None:
        """The document's id, where there is one."""
        named = self.body.get("id") if isinstance(self.body, dict) else None
        return self.id or (named if isinstance(named, str) else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one operation ended.

    Attributes:
        status: Its HTTP status.
        sub_status: What tells apart errors of one status.
        charge: Its request units.
        retry_after: Seconds that the client is asked to wait.
        etag: The document's version, where there is one.
        body: The document as JSON, where it is shown.
    """

    status: int
    sub_status: int = 0
    charge: float = METADATA_CHARGE
    retry_after: float | None = None
    etag: str | None = None
    body: bytes = b""

    @property
    def is_failure(self) -> bool:
        """Whether the operation was refused or not even tried."""
        return self.status >= 400

    def encoded(self) -> bytes:
        """The outcome as the answer's list shows it."""
        shown: dict[str, Any] = {"statusCode": self.status, "requestCharge": self.charge}
        if self.sub_status:
            shown["subStatusCode"] = self.sub_status
        if self.retry_after is not None:
            shown["retryAfterMilliseconds"] = milliseconds(self.retry_after)
        if self.etag is not None:
            shown["eTag"] = self.etag
        encoded = strict_json.encode(shown)
        return encoded[:-1] + b',"resourceBody":' + self.body + b"}" if self.body else encoded


_NOT_TRIED: Final = Outcome(status=424, charge=0.0)


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
    minimal: bool,
    reported: Reported,
    ordered: Callable[[BatchOperation], Fail | None],
) -> list[Outcome]:
    """Carries out all operations and commits them, or reports the one that forbids it.

    Args:
        operations: In order.
        transaction: Where they happen.
        minimal: Whether writes are answered without documents.
        reported: Which one is reported where several forbid it.
        ordered: The failure that befalls an operation on order.

    Raises:
        CosmosError: The answer would be too large.
    """
    outcomes: list[Outcome] = []
    failures: dict[int, Outcome] = {}
    for index, operation in enumerate(operations):
        outcome = _in_transaction(operation, transaction, ordered(operation), minimal=minimal)
        if outcome.is_failure:
            failures[index] = outcome
        elif not failures:
            outcomes.append(outcome)
            _check_room(outcomes)
    if not failures:
        transaction.commit()
        return outcomes
    culprit = [*failures][0 if reported == "first" else -1]
    return [failures[n] if n == culprit else _NOT_TRIED for n in range(len(operations))]


def execute_each(
    operations: Sequence[BatchOperation],
    begin: Callable[[BatchOperation], Transaction],
    *,
    minimal: bool,
    continues: bool,
    ordered: Callable[[BatchOperation], Fail | None],
) -> list[Outcome]:
    """Carries out and commits each operation by itself.

    Args:
        operations: In order.
        begin: Starts an operation's transaction.
        minimal: Whether writes are answered without documents.
        continues: Whether operations are tried after one has failed.
        ordered: The failure that befalls an operation on order.
    """
    outcomes: list[Outcome] = []
    for operation in operations:
        if not continues and outcomes and outcomes[-1].is_failure:
            outcomes.append(_NOT_TRIED)
            continue
        outcomes.append(
            _by_itself(operation, begin, ordered(operation), before=outcomes, minimal=minimal)
        )
    return outcomes


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
        partition_key=item.get("partitionKey"),
    )


def _kind(name: object) -> Kind:
    match name:
        case "Create" | "Read" | "Replace" | "Patch" | "Delete" | "Upsert":
            return name
        case _:
            raise bad_request("An operation of the batch has an unknown operationType.")


def _in_transaction(
    operation: BatchOperation, transaction: Transaction, fail: Fail | None, *, minimal: bool
) -> Outcome:
    try:
        if fail is not None:
            raise ordered_failure(fail)
        return _tried(operation, transaction, minimal=minimal)
    except CosmosError as error:
        return _refused(error)


def _by_itself(
    operation: BatchOperation,
    begin: Callable[[BatchOperation], Transaction],
    fail: Fail | None,
    *,
    before: Sequence[Outcome],
    minimal: bool,
) -> Outcome:
    """Commits, unless the answer has no room left or a failure befalls the operation."""
    if fail is not None and not fail.applied:
        return _refused(ordered_failure(fail))
    try:
        transaction = begin(operation)
        outcome = _tried(operation, transaction, minimal=minimal)
        _check_room([*before, outcome])
        transaction.commit()
    except CosmosError as error:
        outcome = _refused(error)
    return outcome if fail is None else _refused(ordered_failure(fail))


def _check_room(outcomes: Sequence[Outcome]) -> None:
    """Raises 413 where the documents to be shown pass the limit of a response."""
    if sum(len(outcome.body) for outcome in outcomes) > MAX_RESPONSE_BYTES:
        raise answer_too_large()


def _refused(error: CosmosError) -> Outcome:
    return Outcome(status=error.status, sub_status=error.sub_status, retry_after=error.retry_after)


def _tried(operation: BatchOperation, transaction: Transaction, *, minimal: bool) -> Outcome:
    try:
        return _carried_out(operation, transaction, minimal=minimal)
    except RecursionError as error:
        raise nested_too_deeply() from error


def _carried_out(operation: BatchOperation, transaction: Transaction, *, minimal: bool) -> Outcome:
    name, body, condition = operation.id, operation.body, operation.condition
    written = partial(_written, minimal=minimal)
    match operation.kind:
        case "Create":
            return written(201, transaction.create(body))
        case "Upsert":
            document, created = transaction.upsert(body, condition)
            return written(201 if created else 200, document)
        case "Replace":
            return written(200, transaction.replace(name, body, condition))
        case "Patch":
            return written(200, transaction.patch(name, read_patch(body), condition))
        case "Read":
            document = transaction.read(name, condition)
            charge = read_charge(len(document.encoded))
            return Outcome(status=200, charge=charge, etag=document.etag, body=document.encoded)
        case "Delete":
            deleted = transaction.delete(name, condition)
            return Outcome(status=204, charge=write_charge(len(deleted.encoded)))
        case _ as unknown:
            assert_never(unknown)


def _written(status: int, document: Stored, *, minimal: bool) -> Outcome:
    return Outcome(
        status=status,
        charge=write_charge(len(document.encoded)),
        etag=document.etag,
        body=b"" if minimal else document.encoded,
    )
