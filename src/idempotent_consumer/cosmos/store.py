"""`CosmosStore`: one container as the engine's store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_never

from idempotent_consumer.core.commit import (
    Absent,
    Collided,
    Committed,
    Exists,
    Fault,
    Faulted,
    FaultKind,
    Refused,
    Unmarked,
)
from idempotent_consumer.core.marker import read_marker
from idempotent_consumer.core.request import Place
from idempotent_consumer.cosmos.advice import Advice
from idempotent_consumer.cosmos.faults import (
    FAILURES,
    Conflict,
    ForeignAnswerError,
    read_failure,
    write_failure,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from idempotent_consumer.core.commit import CommitResult, ReadResult
    from idempotent_consumer.core.consumer import Container
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.cosmos.account import CosmosAccount, OpenContainer

HASHED_BYTES = 101
"""So many bytes of a partition value tell partitions apart under hash version 1."""
NOWHERE = Place(partition="~probe", id="~probe")
"""No document has this id: ids that begin like it are reserved."""


class CosmosStore:
    """Commits plans to one container, by one request each.

    Args:
        pauses: Seconds before each further look for a document that a commit met and a
            read does not find: replicas lag.
    """

    def __init__(
        self,
        account: CosmosAccount,
        container: Container,
        *,
        pauses: Sequence[float] = (0.05, 0.2, 0.5),
    ) -> None:
        self._account = account
        self._container = container
        self._pauses = pauses
        self._advice = Advice(account.endpoint, container)

    async def commit(self, plan: Plan) -> CommitResult:
        """See `Store`."""
        try:
            opened = await self._account.open(self._container)
            if opened.hash_version == 1 and len(plan.place.partition.encode()) > HASHED_BYTES:
                return Faulted(self._ambiguous_partition())
            await _write(opened, plan)
        except FAILURES as error:
            failure = write_failure(error, self._advice)
        else:
            return Committed()
        match failure:
            case Conflict(operation):
                return await self._met(plan.place, operation)
            case Fault():
                return Faulted(failure)
            case Refused():
                return failure
            case _:
                assert_never(failure)

    async def read(self, place: Place) -> ReadResult:
        """See `Store`."""
        try:
            opened = await self._account.open(self._container)
            document = await opened.proxy.read_item(place.id, partition_key=place.partition)
            if document.get("id") != place.id:
                raise ForeignAnswerError
        except FAILURES as error:
            fault = read_failure(error, self._advice)
            return Absent() if fault is None else Faulted(fault)
        marker = read_marker(document)
        return Unmarked(document) if marker is None else Exists(marker)

    async def probe(self) -> Fault | None:
        """See `Store`."""
        found = await self.read(NOWHERE)
        return found.fault if isinstance(found, Faulted) else None

    async def _met(self, place: Place, operation: int) -> CommitResult:
        """What stands at the place of a plan that met a document."""
        for pause in (0, *self._pauses):
            await asyncio.sleep(pause)
            found = await self.read(place)
            if not isinstance(found, Absent):
                return found
        opened = await self._account.open(self._container)
        return Collided(operation, unique_keys=opened.unique_keys)

    def _ambiguous_partition(self) -> Fault:
        return Fault(
            kind=FaultKind.MISCONFIGURED,
            cause="hash version 1",
            local=True,
            advice=self._advice.hash_whole_values(),
        )


async def _write(opened: OpenContainer, plan: Plan) -> None:
    """Writes by one request. The SDK changes what it is handed, so each call has its own.

    Raises:
        ForeignAnswerError: The SDK takes it for a success, and it says of no document that it
            was created.
    """
    documents = [dict(operation.document) for operation in plan.operations]
    if len(documents) == 1:
        created = await opened.proxy.create_item(documents[0])
        is_confirmed = any(name.startswith("x-ms-") for name in created.get_response_headers())
    else:
        results = await opened.proxy.execute_item_batch(
            [("create", (document,)) for document in documents],
            partition_key=plan.place.partition,
        )
        is_confirmed = [result["statusCode"] for result in results] == [201] * len(documents)
    if not is_confirmed:
        raise ForeignAnswerError
