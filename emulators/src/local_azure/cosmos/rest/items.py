"""The operations on documents."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from local_azure.cosmos.errors import (
    bad_request,
    container_recreated,
    partition_key_mismatch,
    partition_key_required,
    range_gone,
)
from local_azure.cosmos.rest import batch, wire
from local_azure.cosmos.rest.charges import METADATA_CHARGE, read_charge, write_charge
from local_azure.cosmos.rest.sessions import PARTITION_KEY_RANGE, READS, check_session
from local_azure.cosmos.rest.wire import Response
from local_azure.cosmos.store.partition_keys import partition_key_of_header
from local_azure.cosmos.store.patch import read_patch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from local_azure.cosmos.rest.batch import BatchOperation, Outcome
    from local_azure.cosmos.rest.call import Call
    from local_azure.cosmos.store.account import Account
    from local_azure.cosmos.store.containers import Container
    from local_azure.cosmos.store.documents import Stored
    from local_azure.cosmos.store.transactions import Transaction
    from local_azure.faults import Fail, Faults


class Items:
    """Carries out operations on documents.

    Args:
        account: Where the containers are.
        now: Seconds since the epoch.
        reported: Which failing operation a failed batch reports.
        faults: What befalls single operations of a batch.
    """

    def __init__(
        self,
        account: Account,
        now: Callable[[], float],
        reported: batch.Reported,
        faults: Faults,
    ) -> None:
        self._account = account
        self._now = now
        self._reported = reported
        self._faults = faults

    def create(self, call: Call) -> Response:
        """``POST docs``."""
        transaction = self._begin(call)
        document = transaction.create(call.payload)
        transaction.commit()
        return _written(call, 201, document)

    def upsert(self, call: Call) -> Response:
        """``POST docs``, marked as upsert."""
        transaction = self._begin(call)
        document, created = transaction.upsert(call.payload, call.condition)
        transaction.commit()
        return _written(call, 201 if created else 200, document)

    def read(self, call: Call) -> Response:
        """``GET docs/{id}``."""
        document = self._begin(call).read(call.names[2], call.condition)
        return Response(
            status=200,
            headers=_headers(document, read_charge(len(document.encoded))),
            body=document.encoded,
        )

    def replace(self, call: Call) -> Response:
        """``PUT docs/{id}``."""
        transaction = self._begin(call)
        document = transaction.replace(call.names[2], call.payload, call.condition)
        transaction.commit()
        return _written(call, 200, document)

    def patch(self, call: Call) -> Response:
        """``PATCH docs/{id}``."""
        transaction = self._begin(call)
        document = transaction.patch(call.names[2], read_patch(call.payload), call.condition)
        transaction.commit()
        return _written(call, 200, document)

    def delete(self, call: Call) -> Response:
        """``DELETE docs/{id}``."""
        transaction = self._begin(call)
        document = transaction.delete(call.names[2], call.condition)
        transaction.commit()
        charge = write_charge(len(document.encoded))
        return Response(status=204, headers={wire.REQUEST_CHARGE: str(charge)})

    def batch(self, call: Call) -> Response:
        """``POST docs``, marked as batch."""
        operations = batch.batch_operations(call.payload)
        is_bulk = call.request.denies(wire.BATCH_ATOMIC)
        outcomes = (self._in_bulk if is_bulk else self._together)(call, operations)
        failed = any(outcome.is_failure for outcome in outcomes)
        charge = round(sum(outcome.charge for outcome in outcomes), 2)
        return Response(
            status=207 if failed else 200,
            headers={wire.REQUEST_CHARGE: str(charge or METADATA_CHARGE)},
            body=b"[%s]" % b",".join(outcome.encoded() for outcome in outcomes),
        )

    def _together(self, call: Call, operations: Sequence[BatchOperation]) -> list[Outcome]:
        return batch.execute(
            operations,
            self._begin(call),
            minimal=_is_minimal(call),
            reported=self._reported,
            ordered=partial(self._ordered, call),
        )

    def _in_bulk(self, call: Call, operations: Sequence[BatchOperation]) -> list[Outcome]:
        _check_range(call)
        return batch.execute_each(
            operations,
            partial(self._begin_alone, call, addressed_container(self._account, call)),
            minimal=_is_minimal(call),
            continues=call.request.says(wire.BATCH_CONTINUES),
            ordered=partial(self._ordered, call),
        )

    def _ordered(self, call: Call, operation: BatchOperation) -> Fail | None:
        """The failure that a fault orders for one operation of a batch."""
        part = replace(call.operation, name=operation.name, key=operation.key)
        return self._faults.failure_of(part)

    def delete_partition(self, call: Call) -> Response:
        """``POST operations/partitionkeydelete``; the service takes its time over it."""
        transaction = self._begin(call)
        for found in transaction.container.partition(transaction.key, transaction.now):
            transaction.delete(found.document["id"])
        transaction.commit()
        return Response(status=200)

    def _begin(self, call: Call) -> Transaction:
        container = addressed_container(self._account, call)
        header = call.request.headers.get(wire.PARTITION_KEY)
        return container.begin(partition_key_of_header(header, container.properties), self._now())

    def _begin_alone(
        self, call: Call, container: Container, operation: BatchOperation
    ) -> Transaction:
        """Starts an operation of a bulk in its own partition, or else the request's."""
        header, own = call.request.headers.get(wire.PARTITION_KEY), operation.partition_key
        if own is not None and not isinstance(own, str):
            raise bad_request("The partitionKey of an operation is a text that holds JSON.")
        key = partition_key_of_header(header if own is None else own, container.properties)
        if header is not None and partition_key_of_header(header, container.properties) != key:
            raise partition_key_mismatch()
        return container.begin(key, self._now())


def addressed_container(account: Account, call: Call) -> Container:
    """The container that a request goes to, if it still is the one that the client means."""
    container = account.item_container(call.names)
    intended = call.request.headers.get(wire.INTENDED_CONTAINER_RID, container.rid)
    if intended != container.rid:
        raise container_recreated()
    if call.route.operation in READS:
        check_session(call.request.headers.get(wire.SESSION_TOKEN), container)
    return container


def _check_range(call: Call) -> None:
    """A bulk goes to a range, or to the partition of its header."""
    headers = call.request.headers
    if wire.PARTITION_KEY_RANGE_ID not in headers and wire.PARTITION_KEY not in headers:
        raise partition_key_required()
    if headers.get(wire.PARTITION_KEY_RANGE_ID, PARTITION_KEY_RANGE) != PARTITION_KEY_RANGE:
        raise range_gone()


def _written(call: Call, status: int, document: Stored) -> Response:
    return Response(
        status=status,
        headers=_headers(document, write_charge(len(document.encoded))),
        body=b"" if _is_minimal(call) else document.encoded,
    )


def _headers(document: Stored, charge: float) -> dict[str, str]:
    return {wire.ETAG: document.etag, wire.REQUEST_CHARGE: str(charge)}


def _is_minimal(call: Call) -> bool:
    return call.request.headers.get(wire.PREFER) == "return=minimal"
