"""The feed of conflicts, which is empty: they arise only where several regions are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import not_found
from local_azure.cosmos.rest.queries import check_query, read_query
from local_azure.cosmos.rest.wire import Response

if TYPE_CHECKING:
    from local_azure.cosmos.rest.call import Call
    from local_azure.cosmos.store.account import Account


class Conflicts:
    """Carries out operations on conflicts."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def list(self, call: Call) -> Response:
        """``GET conflicts``."""
        rid = self._account.item_container(call.names).rid
        shown = strict_json.encode({"_rid": rid, "Conflicts": [], "_count": 0})
        return Response(status=200, body=shown)

    def query(self, call: Call) -> Response:
        """``POST conflicts``, marked as query."""
        container = self._account.item_container(call.names)
        check_query(read_query(call.payload), call.request, container.properties)
        return self.list(call)

    def find(self, call: Call) -> Response:
        """``GET`` or ``DELETE conflicts/{id}``."""
        self._account.item_container(call.names)
        raise not_found()
