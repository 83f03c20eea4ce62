"""Queries as they come over the wire, and those that the service refuses to serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos.errors import bad_request
from local_azure.cosmos.rest import wire
from local_azure.cosmos.sql.narrowing import path_of, possible_values
from local_azure.cosmos.sql.parser import parse_query
from local_azure.cosmos.sql.semantics import sums_up
from local_azure.cosmos.store.indexing import check_order
from local_azure.cosmos.store.paths import steps_of

if TYPE_CHECKING:
    from local_azure.cosmos.rest.wire import Request
    from local_azure.cosmos.sql.syntax import Select
    from local_azure.cosmos.store.properties import ContainerProperties

_MAX_QUERY_CHARACTERS: Final = 256 * 1024
_MAX_ORDER_PATHS: Final = 8
"""As many as a composite index has at most."""


def read_query(payload: object) -> Select:
    """Reads ``{"query": ..., "parameters": [{"name": ..., "value": ...}]}``."""
    text = payload.get("query") if isinstance(payload, dict) else None
    if not isinstance(payload, dict) or not isinstance(text, str):
        raise bad_request("The body is not a query.")
    if len(text) > _MAX_QUERY_CHARACTERS:
        raise bad_request(f"The query is longer than {_MAX_QUERY_CHARACTERS} characters.")
    return parse_query(text, _parameters(payload.get("parameters") or []))


def check_query(select: Select, request: Request, container: ContainerProperties) -> None:
    """Raises 400 for what the service does not serve in this container."""
    _check_order_by(select, container)
    headers = request.headers
    is_within = any(header in headers for header in wire.NARROWING)
    if is_within or _names_partition(select, container):
        return
    if not request.says(wire.CROSS_PARTITION):
        raise bad_request(
            "Cross partition query is required but disabled. Please set "
            "x-ms-documentdb-query-enablecrosspartition to true, specify "
            "x-ms-documentdb-partitionkey, or revise your query to avoid this exception."
        )
    if sums_up(select) and select.value is None and not select.group_by:
        raise bad_request(
            "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates."
        )


def _parameters(given: object) -> dict[str, Any]:
    if not isinstance(given, list):
        raise bad_request("The parameters of a query are a list.")
    parameters = {}
    for parameter in given:
        name = parameter.get("name") if isinstance(parameter, dict) else None
        if not isinstance(name, str):
            raise bad_request("A parameter of a query has a name and a value.")
        parameters[name] = parameter.get("value")
    return parameters


def _check_order_by(select: Select, container: ContainerProperties) -> None:
    if len(select.order_by) > _MAX_ORDER_PATHS:
        raise bad_request(f"The query is ordered by more than {_MAX_ORDER_PATHS} paths.")
    order = []
    for each in select.order_by:
        path = path_of(each.expression, select)
        if path is None:
            raise bad_request(
                "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a "
                "document path."
            )
        order.append((path, each.descending))
    check_order(container.indexing_policy, order)


def _names_partition(select: Select, container: ContainerProperties) -> bool:
    """Whether the condition leaves one partition alone."""
    possible = [possible_values(steps_of(path), select) for path in container.partition_key_paths]
    return all(values is not None and len(values) == 1 for values in possible)
