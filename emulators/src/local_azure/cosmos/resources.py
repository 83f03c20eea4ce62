"""The operations on the account, its databases and its containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json, wire
from local_azure.cosmos.wire import Response

if TYPE_CHECKING:
    from local_azure.cosmos.account import Account
    from local_azure.cosmos.call import Call

PARTITION_KEY_RANGE: Final = "0"
"""The one range that holds every partition key."""

_QUERY_LIMITS: Final = {
    "maxSqlQueryInputLength": 262144,
    "maxJoinsPerSqlQuery": 5,
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
    """Carries out operations on everything above documents."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def read_account(self, call: Call) -> Response:
        """``GET /``; clients send all that follows to the endpoint it names."""
        endpoint = f"http://{call.request.headers.get('host', 'localhost')}/"
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
        shown = [database.as_json() for database in self._account.databases()]
        return _shown(200, {"_rid": "", "Databases": shown, "_count": len(shown)})

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
        shown = [container.as_json() for container in database.containers.values()]
        return _shown(
            200, {"_rid": database.rid, "DocumentCollections": shown, "_count": len(shown)}
        )

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


def _shown(status: int, value: dict[str, Any], *, etag: str | None = None) -> Response:
    headers = {} if etag is None else {wire.ETAG: etag}
    return Response(status=status, headers=headers, body=strict_json.encode(value))
