"""A request whose operation is known, and whose payload has been read."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import CosmosError, bad_request, too_large
from local_azure.cosmos.rest import wire
from local_azure.cosmos.rest.routing import NOWHERE, route
from local_azure.cosmos.store.transactions import Condition
from local_azure.faults import Operation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_azure.cosmos.rest.routing import Route
    from local_azure.cosmos.rest.wire import Request
    from local_azure.cosmos.store.account import Account

_NOT_ENCODED: Final = "identity"
_HYBRID_ROW: Final = b"\x81"
"""How a batch of the .NET SDK begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One operation that a client asks for.

    Attributes:
        request: The request as it came in.
        activity_id: What the client calls the operation by, or else an id of our own.
        route: What it is addressed to.
        names: The path's ids, resource ids among them replaced by the ids they stand for.
        payload: The body's JSON, or ``None`` without one.
        refusal: Why the request is refused unread, if it is.
    """

    request: Request
    activity_id: str
    route: Route
    names: tuple[str, ...]
    payload: Any
    refusal: CosmosError | None

    @property
    def operation(self) -> Operation:
        """The operation as faults and events name it."""
        return Operation(
            name=self.route.operation, entity="/".join(self.names[:2]), key=self._document_id
        )

    @property
    def condition(self) -> Condition:
        """The ETags that the request is conditional on."""
        return Condition(
            if_match=self.request.headers.get(wire.IF_MATCH),
            if_none_match=self.request.headers.get(wire.IF_NONE_MATCH),
        )

    @property
    def _document_id(self) -> str | None:
        """The id in the path, or else in the body; a batch goes by its first operation."""
        if len(self.names) > 2:
            return self.names[2]
        if self.route.operation == "batch" and isinstance(self.payload, list):
            first = self.payload[0] if self.payload else None
            body = first.get("resourceBody") if isinstance(first, dict) else None
            return _id(first) or _id(body)
        return _id(self.payload)


def activity_id_of(headers: Mapping[str, str]) -> str:
    """What the client calls a request by, or else an id of our own."""
    return headers.get(wire.ACTIVITY_ID) or str(uuid.uuid4())


def _id(body: object) -> str | None:
    found = body.get("id") if isinstance(body, dict) else None
    return found if isinstance(found, str) else None


def read_call(request: Request, account: Account) -> Call:
    """Finds out what a request asks for; one that cannot be read becomes a refused call."""
    found, payload, refusal = NOWHERE, None, None
    try:
        found = route(request)
        payload = _payload(request)
    except CosmosError as error:
        refusal = error
    return Call(
        request=request,
        activity_id=activity_id_of(request.headers),
        route=found,
        names=account.names(found.segments),
        payload=payload,
        refusal=refusal,
    )


def _payload(request: Request) -> Any:
    if len(request.body) > wire.MAX_REQUEST_BYTES:
        raise too_large()
    if request.headers.get(wire.CONTENT_ENCODING, _NOT_ENCODED).lower() != _NOT_ENCODED:
        raise bad_request("A body with a Content-Encoding is not read; send it as it is.")
    if request.body.startswith(_HYBRID_ROW):
        raise bad_request("A body in HybridRow form is not emulated; send JSON instead.")
    return strict_json.decode(request.body) if request.body else None
