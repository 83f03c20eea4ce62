"""What every request carries: a signature by the account's key, or a token of Entra ID.

A token is not verified, for nobody here issues any; what a role may not do is left to faults.
"""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from local_azure.cosmos.errors import not_for_tokens, token_not_accepted, wrong_signature
from local_azure.cosmos.rest import wire
from local_azure.cosmos.store.resource_ids import names_database_by_rid

if TYPE_CHECKING:
    from local_azure.cosmos.rest.routing import Route
    from local_azure.cosmos.rest.wire import Request


_FOR_KEYS_ONLY: Final = frozenset(
    f"{verb}_{resource}"
    for verb in ("create", "delete", "replace", "list", "query")
    for resource in ("database", "databases", "container", "containers")
)


def authorize(request: Request, route: Route, key: bytes) -> None:
    """Raises a `CosmosError` 401 unless the request has a token or is signed with the key."""
    authorization = unquote(request.headers.get("authorization", ""))
    match authorization.split("&", 2):
        case ["type=master", "ver=1.0", signature] if signature.startswith("sig="):
            _check_signature(signature.removeprefix("sig="), _signed_payload(request, route), key)
        case ["type=aad", "ver=1.0", token] if token.startswith("sig=") and token != "sig=":  # noqa: S105
            if route.operation in _FOR_KEYS_ONLY:
                raise not_for_tokens(f"{request.method} {request.path}")
        case _:
            raise token_not_accepted()


def _check_signature(signature: str, payload: str, key: bytes) -> None:
    expected = base64.b64encode(hmac.digest(key, payload.encode(errors="replace"), "sha256"))
    if not hmac.compare_digest(signature.encode(errors="replace"), expected):
        raise wrong_signature(payload)


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
