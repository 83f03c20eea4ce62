"""The operations on the account, its databases and its containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.rest import wire
from local_azure.cosmos.rest.queries import read_query
from local_azure.cosmos.rest.sessions import PARTITION_KEY_RANGE
from local_azure.cosmos.rest.wire import Response
from local_azure.cosmos.sql.execution import execute
from local_azure.cosmos.sql.parser import MAX_JOINS

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.cosmos.rest.call import Call
    from local_azure.cosmos.store.account import Account, Database

_QUERY_LIMITS: Final = {
    "maxSqlQueryInputLength": 262144,
    "maxJoinsPerSqlQuery": MAX_JOINS,
    "maxLogicalAndPerSqlQuery": 500,
    "maxLogicalOrPerSqlQuery": 500,
    "maxUdfRefPerSqlQuery": 10,
    "maxInExpressionItemsCount": 16000,
    "queryMaxInMemorySortDocumentCount": 500,
    "maxQueryRequestTimeoutFraction": 0.9,
    "sqlAllowNonFiniteNumbers": False,
    "sqlAllowAggregateFunctions": True,
    "sqlAllowSubQuery": True,
    "sqlAllowScalarSubQuery": True,
    "allowNewKeywords": True,
    "sqlAllowLike": True,
    "sqlAllowGroupByClause": True,
    "maxSpatialQueryCells": 12,
    "spatialMaxGeometryPointCount": 256,
    "sqlDisableQueryILOptimization": False,
    "enableSpatialIndexing": True,
}


class Resources:
    """Carries out operations on everything above documents.

    Args:
        account: Where the databases are.
        now: Seconds since the epoch.
    """

    def __init__(self, account: Account, now: Callable[[], float]) -> None:
        self._account = account
        self._now = now

    def read_account(self, call: Call) -> Response:
        """``GET /``; clients send all that follows to the endpoint it names."""
        request = call.request
        endpoint = f"{request.scheme}://{request.headers.get('host', 'localhost')}/"
        location = {"name": "Local", "databaseAccountEndpoint": endpoint}
        return _shown(
            200,
            {
                "_self": "",
                "id": "localhost",
                "_rid": "localhost",
                "media": "//media/",
                "addresses": "//addresses/",
                "_dbs": "//dbs/",
                "writableLocations": [location],
                "readableLocations": [location],
                "enableMultipleWriteLocations": False,
                "userReplicationPolicy": {"minReplicaSetSize": 1, "maxReplicasetSize": 4},
                "systemReplicationPolicy": {"minReplicaSetSize": 1, "maxReplicasetSize": 4},
                "readPolicy": {"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
                "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
                "queryEngineConfiguration": strict_json.encode(_QUERY_LIMITS).decode(),
            },
        )

    def create_database(self, call: Call) -> Response:
        """``POST dbs``."""
        database = self._account.create_database(call.payload)
        return _shown(201, database.as_json(), etag=database.etag)

    def read_database(self, call: Call) -> Response:
        """``GET dbs/{id}``."""
        database = self._account.database(call.names[0])
        return _shown(200, database.as_json(), etag=database.etag)

    def list_databases(self, _: Call) -> Response:
        """``GET dbs``."""
        return _listed("", "Databases", self._databases())

    def query_databases(self, call: Call) -> Response:
        """``POST dbs``, marked as query."""
        return _listed("", "Databases", self._found(call, self._databases()))

    def delete_database(self, call: Call) -> Response:
        """``DELETE dbs/{id}``."""
        self._account.delete_database(call.names[0])
        return Response(status=204)

    def create_container(self, call: Call) -> Response:
        """``POST colls``."""
        container = self._account.create_container(call.names[0], call.payload)
        return _shown(201, container.as_json(), etag=container.etag)

    def read_container(self, call: Call) -> Response:
        """``GET colls/{id}``."""
        container = self._account.container(*call.names)
        return _shown(200, container.as_json(), etag=container.etag)

    def replace_container(self, call: Call) -> Response:
        """``PUT colls/{id}``."""
        container = self._account.replace_container(call.names[0], call.names[1], call.payload)
        return _shown(200, container.as_json(), etag=container.etag)

    def list_containers(self, call: Call) -> Response:
        """``GET colls``."""
        database = self._account.owner(call.names[0])
        return _listed(database.rid, "DocumentCollections", _containers(database))

    def query_containers(self, call: Call) -> Response:
        """``POST colls``, marked as query."""
        database = self._account.owner(call.names[0])
        found = self._found(call, _containers(database))
        return _listed(database.rid, "DocumentCollections", found)

    def delete_container(self, call: Call) -> Response:
        """``DELETE colls/{id}``."""
        self._account.delete_container(*call.names)
        return Response(status=204)

    def read_partition_key_ranges(self, call: Call) -> Response:
        """``GET pkranges``; clients ask until nothing has changed."""
        container = self._account.item_container(call.names)
        etag = f'"{container.rid}"'
        if call.condition.if_none_match == etag:
            return Response(status=304, headers={wire.ETAG: etag})
        only_range = {
            "id": PARTITION_KEY_RANGE,
            "_rid": container.rid,
            "_self": f"{container.link}pkranges/{PARTITION_KEY_RANGE}/",
            "_etag": etag,
            "_ts": container.changed_at,
            "minInclusive": "",
            "maxExclusive": "FF",
            "ridPrefix": 0,
            "throughputFraction": 1,
            "status": "online",
            "parents": [],
        }
        ranges = {"_rid": container.rid, "PartitionKeyRanges": [only_range], "_count": 1}
        return _shown(200, ranges, etag=etag)

    def _databases(self) -> list[dict[str, Any]]:
        return [database.as_json() for database in self._account.databases()]

    def _found(self, call: Call, shown: list[dict[str, Any]]) -> list[Any]:
        results = execute(read_query(call.payload), enumerate(shown), now=self._now())
        return [result.value for result in results]


def _containers(database: Database) -> list[dict[str, Any]]:
    return [container.as_json() for container in database.containers.values()]


def _listed(rid: str, name: str, items: list[Any]) -> Response:
    return _shown(200, {"_rid": rid, name: items, "_count": len(items)})


def _shown(status: int, value: dict[str, Any], *, etag: str | None = None) -> Response:
    headers = {} if etag is None else {wire.ETAG: etag}
    return Response(status=status, headers=headers, body=strict_json.encode(value))
