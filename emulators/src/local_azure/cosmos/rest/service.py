"""The emulated service without its sockets: a request in, a response out."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import (
    CosmosError,
    milliseconds,
    nested_too_deeply,
    not_emulated,
)
from local_azure.cosmos.rest import wire
from local_azure.cosmos.rest.authorization import authorize
from local_azure.cosmos.rest.batch import PARTS
from local_azure.cosmos.rest.call import read_call
from local_azure.cosmos.rest.charges import METADATA_CHARGE
from local_azure.cosmos.rest.conflicts import Conflicts
from local_azure.cosmos.rest.feeds import Feeds
from local_azure.cosmos.rest.items import Items
from local_azure.cosmos.rest.resources import Resources
from local_azure.cosmos.rest.routing import OTHER, QUERY_PLAN
from local_azure.cosmos.rest.sessions import PARTITION_KEY_RANGE, session_token
from local_azure.cosmos.rest.wire import Response
from local_azure.cosmos.store.account import Account
from local_azure.faults import Delay, Drop, Fail, Faults, Hang, Targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Set

    from local_azure.cosmos.rest.batch import Reported
    from local_azure.cosmos.rest.call import Call
    from local_azure.cosmos.rest.wire import Request
    from local_azure.cosmos.store.containers import ExpiredIds
    from local_azure.cosmos.store.documents import Stored
    from local_azure.cosmos.store.properties import ContainerProperties

EMULATOR_KEY: Final = (
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
)
"""The key that Microsoft publishes for every emulator."""

_PATH_CHARACTERS: Final = "".join(map(chr, range(0x20, 0x7F)))


class Service:
    """One account.

    Args:
        containers: What exists from the start; databases come into being with their containers.
        now: Seconds since the epoch.
        key: The account's master key.
        failed_batch_reports: The operation that a failed batch reports, where several fail.
        expired_ids: Whether a new document may take the id of an expired one.
        faults: What befalls single operations of a batch.

    Raises:
        ValueError: A container cannot be created, or a fault given could never strike.
    """

    def __init__(
        self,
        containers: Iterable[ContainerProperties],
        *,
        now: Callable[[], float],
        key: str = EMULATOR_KEY,
        failed_batch_reports: Reported = "first",
        expired_ids: ExpiredIds = "free",
        faults: Faults | None = None,
    ) -> None:
        self._now = now
        self._key = base64.b64decode(key)
        self._account = Account(now, expired_ids)
        for properties in containers:
            self._add(properties)
        faults = faults or Faults()
        self._operations = _operations(
            Items(self._account, now, failed_batch_reports, faults),
            Feeds(self._account, now),
            Resources(self._account, now),
            Conflicts(self._account),
        )
        faults.aim_at(_targets({*self._operations, QUERY_PLAN, OTHER}))

    def _add(self, properties: ContainerProperties) -> None:
        try:
            self._account.ensure_database(properties.database)
            self._account.create_container(properties.database, properties.as_json())
        except CosmosError as error:
            name = f"{properties.database}/{properties.id}"
            raise ValueError(f"container {name!r}: {error.message}") from error

    def handle(self, request: Request) -> Response:
        """Answers a request; whatever it holds, nothing is raised."""
        return self.perform(self.read(request))

    def read(self, request: Request) -> Call:
        """Finds out what a request asks for, without doing it."""
        return read_call(request, self._account)

    def perform(self, call: Call) -> Response:
        """Carries out an operation."""
        try:
            response = self._carried_out(call)
        except CosmosError as error:
            return self.refuse(call, error)
        except RecursionError:
            return self.refuse(call, nested_too_deeply())
        return self._completed(call, response)

    def refuse(self, call: Call, error: CosmosError) -> Response:
        """Answers an operation with an error."""
        response = refusal(error, call.activity_id)
        return replace(response, headers=dict(response.headers) | self._session(call))

    def documents(self, database: str, container: str) -> list[Stored]:
        """A container's documents that have not expired; `KeyError` if there is no container."""
        try:
            return self._account.container(database, container).documents(self._now())
        except CosmosError as error:
            raise KeyError(f"{database}/{container}") from error

    def _carried_out(self, call: Call) -> Response:
        authorize(call.request, call.route, self._key)
        if call.refusal is not None:
            raise call.refusal
        operation = self._operations.get(call.route.operation)
        if operation is None:
            raise not_emulated(_described(call))
        return operation(call)

    def _completed(self, call: Call, response: Response) -> Response:
        headers = _common_headers(call.activity_id) | dict(response.headers)
        return replace(response, headers=headers | self._session(call))

    def _session(self, call: Call) -> dict[str, str]:
        """What clients read the session from; errors of item operations carry it too."""
        if not call.route.concerns_documents:
            return {}
        try:
            container = self._account.item_container(call.names)
        except CosmosError:
            return {}
        path = f"dbs/{container.properties.database}/colls/{container.properties.id}"
        return {
            wire.ALT_CONTENT_PATH: quote(path, safe=_PATH_CHARACTERS),
            wire.LSN: str(container.lsn),
            wire.PARTITION_KEY_RANGE_ID: PARTITION_KEY_RANGE,
            wire.SESSION_TOKEN: session_token(container),
        }


def refusal(error: CosmosError, activity_id: str) -> Response:
    """The answer to a request that ends with an error, apart from its session."""
    headers = {wire.SUB_STATUS: str(error.sub_status)}
    if error.retry_after is not None:
        headers[wire.RETRY_AFTER_MS] = str(milliseconds(error.retry_after))
    message = f"{error.message}\r\nActivityId: {activity_id}"
    body = strict_json.encode({"code": error.code, "message": message})
    return Response(
        status=error.status,
        headers=_common_headers(activity_id) | headers,
        body=b"" if error.status == 304 else body,
    )


def _common_headers(activity_id: str) -> dict[str, str]:
    return {
        wire.ACTIVITY_ID: activity_id,
        wire.CONTENT_TYPE: "application/json",
        wire.REQUEST_CHARGE: str(METADATA_CHARGE),
        "x-ms-serviceversion": "version=2.14.0.0",
    }


def _operations(
    items: Items, feeds: Feeds, resources: Resources, conflicts: Conflicts
) -> Mapping[str, Callable[[Call], Response]]:
    return {
        "read_account": resources.read_account,
        "create_database": resources.create_database,
        "read_database": resources.read_database,
        "list_databases": resources.list_databases,
        "query_databases": resources.query_databases,
        "delete_database": resources.delete_database,
        "create_container": resources.create_container,
        "read_container": resources.read_container,
        "replace_container": resources.replace_container,
        "list_containers": resources.list_containers,
        "query_containers": resources.query_containers,
        "delete_container": resources.delete_container,
        "read_partition_key_ranges": resources.read_partition_key_ranges,
        "list_conflicts": conflicts.list,
        "query_conflicts": conflicts.query,
        "read_conflict": conflicts.find,
        "delete_conflict": conflicts.find,
        "create": items.create,
        "read": items.read,
        "replace": items.replace,
        "upsert": items.upsert,
        "patch": items.patch,
        "delete": items.delete,
        "batch": items.batch,
        "delete_partition": items.delete_partition,
        "list": feeds.list,
        "query": feeds.query,
        "change_feed": feeds.change_feed,
    }


def _targets(operations: Set[str]) -> Targets:
    """A part of a batch has no answer of its own that could fail to come or be late."""
    wholes = dict.fromkeys(operations, frozenset({Drop, Delay, Hang, Fail}))
    return Targets(operations=wholes | dict.fromkeys(PARTS, frozenset({Fail})), code=int)


def _described(call: Call) -> str:
    if call.route.operation != OTHER:
        return f"the operation {call.route.operation!r}"
    return f"{call.request.method} on a resource of type {call.route.resource_type!r}"
