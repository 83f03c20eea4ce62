"""The operations on documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.cosmos import batch, strict_json, wire
from local_azure.cosmos.charges import METADATA_CHARGE, read_charge, write_charge
from local_azure.cosmos.errors import container_recreated
from local_azure.cosmos.partition_keys import partition_key_of_header
from local_azure.cosmos.wire import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.cosmos.account import Account
    from local_azure.cosmos.call import Call
    from local_azure.cosmos.containers import Transaction
    from local_azure.cosmos.documents import Stored


class Items:
    """Carries out operations on documents.

    Args:
        account: Where the containers are.
        now: Seconds since the epoch.
        reported: Which failing operation a failed batch reports.
    """

    def __init__(
        self, account: Account, now: Callable[[], float], reported: batch.Reported
    ) -> None:
        self._account = account
        self._now = now
        self._reported = reported

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
        outcomes = batch.execute(operations, self._begin(call), reported=self._reported)
        failed = any(outcome.status >= 400 for outcome in outcomes)
        charge = round(sum(outcome.charge for outcome in outcomes), 2)
        minimal = _is_minimal(call)
        return Response(
            status=207 if failed else 200,
            headers={wire.REQUEST_CHARGE: str(charge or METADATA_CHARGE)},
            body=strict_json.encode([outcome.as_json(minimal=minimal) for outcome in outcomes]),
        )

    def _begin(self, call: Call) -> Transaction:
        container = self._account.item_container(call.names)
        intended = call.request.headers.get(wire.INTENDED_CONTAINER_RID, container.rid)
        if intended != container.rid:
            raise container_recreated()
        header = call.request.headers.get(wire.PARTITION_KEY)
        return container.begin(partition_key_of_header(header, container.properties), self._now())


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
