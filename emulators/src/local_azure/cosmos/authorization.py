"""The signature by the account's master key that every request carries."""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING
from urllib.parse import unquote

from local_azure.cosmos import wire
from local_azure.cosmos.errors import token_not_accepted, wrong_signature
from local_azure.cosmos.resource_ids import names_database_by_rid

if TYPE_CHECKING:
    from local_azure.cosmos.routing import Route
    from local_azure.cosmos.wire import Request


def authorize(request: Request, route: Route, key: bytes) -> None:
    """Raises a `CosmosError` 401 unless the request is signed with the key."""
    payload = _signed_payload(request, route)
    expected = base64.b64encode(hmac.digest(key, payload.encode(errors="replace"), "sha256"))
    if not hmac.compare_digest(_signature(request), expected):
        raise wrong_signature(payload)


def _signature(request: Request) -> bytes:
    token = unquote(request.headers.get("authorization", ""))
    match token.split("&", 2):
        case ["type=master", "ver=1.0", signature] if signature.startswith("sig="):
            return signature.removeprefix("sig=").encode()
        case _:
            raise token_not_accepted()


def _signed_payload(request: Request, route: Route) -> str:
    date = request.headers.get(wire.DATE, "").lower()
    http_date = "" if date else request.headers.get("date", "").lower()
    link = _resource_link(route)
    return f"{request.method.lower()}\n{route.resource_type.lower()}\n{link}\n{date}\n{http_date}\n"


def _resource_link(route: Route) -> str:
    """A path of names as it is, or the last resource id in lower case."""
    if route.segments and names_database_by_rid(route.segments[0]):
        return route.segments[-1].lower()
    pairs = zip(route.types, route.segments, strict=False)
    return "/".join(f"{kind}/{name}" for kind, name in pairs)
