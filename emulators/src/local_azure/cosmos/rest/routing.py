"""From method, path and headers to the operation that a request asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from local_azure.cosmos.errors import bad_request
from local_azure.cosmos.rest import wire

if TYPE_CHECKING:
    from local_azure.cosmos.rest.wire import Request

_DATABASES: Final = "dbs"
_CONTAINERS: Final = "dbs/*/colls"
_DOCUMENTS: Final = "dbs/*/colls/*/docs"

_OPERATIONS: Final = MappingProxyType(
    {
        ("GET", ""): "read_account",
        ("POST", _DATABASES): "create_database",
        ("GET", _DATABASES): "list_databases",
        ("GET", f"{_DATABASES}/*"): "read_database",
        ("DELETE", f"{_DATABASES}/*"): "delete_database",
        ("POST", _CONTAINERS): "create_container",
        ("GET", _CONTAINERS): "list_containers",
        ("GET", f"{_CONTAINERS}/*"): "read_container",
        ("PUT", f"{_CONTAINERS}/*"): "replace_container",
        ("DELETE", f"{_CONTAINERS}/*"): "delete_container",
        ("GET", f"{_CONTAINERS}/*/pkranges"): "read_partition_key_ranges",
        ("GET", f"{_CONTAINERS}/*/conflicts"): "list_conflicts",
        ("POST", f"{_CONTAINERS}/*/conflicts"): "query_conflicts",
        ("GET", f"{_CONTAINERS}/*/conflicts/*"): "read_conflict",
        ("DELETE", f"{_CONTAINERS}/*/conflicts/*"): "delete_conflict",
        ("POST", _DOCUMENTS): "create",
        ("GET", _DOCUMENTS): "list",
        ("GET", f"{_DOCUMENTS}/*"): "read",
        ("PUT", f"{_DOCUMENTS}/*"): "replace",
        ("PATCH", f"{_DOCUMENTS}/*"): "patch",
        ("DELETE", f"{_DOCUMENTS}/*"): "delete",
    }
)

_DELETE_PARTITION: Final = "delete_partition"
_DELETION_OF_A_PARTITION: Final = ["operations", "partitionkeydelete"]
"""What follows a container's path; it is signed like a request to the container itself."""

_QUERIES: Final = MappingProxyType(
    {"create_database": "query_databases", "create_container": "query_containers"}
)

QUERY_PLAN: Final = "query_plan"

OTHER: Final = "other"
"""The name of an operation on a kind of resource that the emulator does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a request is addressed to.

    Attributes:
        operation: Name of the operation.
        types: The path's kinds of resource, such as ``("dbs", "colls")``.
        segments: The path's ids or resource ids, decoded.
    """

    operation: str
    types: tuple[str, ...]
    segments: tuple[str, ...]

    @property
    def resource_type(self) -> str:
        """The kind of resource that the operation is about."""
        return self.types[-1] if self.types else ""

    @property
    def concerns_documents(self) -> bool:
        """Whether the operation is about the documents of a container."""
        return self.types == ("dbs", "colls", "docs")


NOWHERE: Final = Route(operation=OTHER, types=(), segments=())


def route(request: Request) -> Route:
    """Finds the operation; raises a `CosmosError` 400 for a path that cannot be decoded.

    The path is taken apart before it is decoded, and never normalised: a document may be
    called ``a%2Fb``, ``.`` or ``..``.
    """
    parts = request.path.strip("/").split("/")
    if parts[4:] == _DELETION_OF_A_PARTITION:
        return replace(
            route(replace(request, path="/".join(parts[:4]))), operation=_DELETE_PARTITION
        )
    types = tuple(parts[0::2]) if parts[0] else ()
    pattern = "/".join("*" if index % 2 else part for index, part in enumerate(parts))
    operation = _OPERATIONS.get((request.method, pattern), OTHER)
    return Route(
        operation=_refined(operation, request),
        types=types,
        segments=tuple(map(_decoded, parts[1::2])),
    )


def _refined(operation: str, request: Request) -> str:
    """Tells apart what shares method and path and differs in headers alone."""
    if operation == "create":
        return _posted_to_documents(request)
    if operation == "list" and wire.CHANGE_FEED in request.headers:
        return "change_feed"
    return _QUERIES.get(operation, operation) if request.says(wire.IS_QUERY) else operation


def _posted_to_documents(request: Request) -> str:
    for header, operation in (
        (wire.IS_QUERY_PLAN, QUERY_PLAN),
        (wire.IS_QUERY, "query"),
        (wire.IS_BATCH, "batch"),
        (wire.IS_UPSERT, "upsert"),
    ):
        if request.says(header):
            return operation
    return "create"


def _decoded(segment: str) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError as error:
        raise bad_request("The request's path is not UTF-8.") from error
