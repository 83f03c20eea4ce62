"""The ``$cbs`` node: clients put tokens there before they attach anywhere else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from local_azure.faults import Operation
from local_azure.servicebus.address import Address
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Int
from local_azure.servicebus.exchange import Exchange, Request, Response, failure
from local_azure.servicebus.tokens import JWT, SAS_TOKEN, covers, is_sas, unauthorized, verify_jwt

if TYPE_CHECKING:
    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.gate import Gate
    from local_azure.servicebus.tokens import SharedAccessKey

_WHOLE_NAMESPACE = ""


class Authorization:
    """Checks tokens, and remembers for each connection what its tokens open."""

    def __init__(self, key: SharedAccessKey, gate: Gate) -> None:
        self._key = key
        self._gate = gate
        self._audiences: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()

    def allows(self, connection: Connection, address: Address) -> bool:
        """Whether the connection has put a token that opens the address."""
        audiences = self._audiences.get(connection, set())
        return any(covers(audience, address) for audience in audiences)

    def plain(self, connection: Connection, response: bytes) -> bool:
        """Whether SASL PLAIN opens the namespace; it then does for the whole connection."""
        opens = self._key.opens(response)
        if opens:
            self._grant(connection, _WHOLE_NAMESPACE)
        return opens

    def respond(self, request: Request, exchange: Exchange) -> None:
        """Answers put-token."""
        audience = request.properties.get("name")
        entity = Address.parse(audience).entity if isinstance(audience, str) else ""
        self._gate.perform(
            Operation(name="authenticate", entity=entity),
            request.session.connection,
            lambda: self._put_token(request),
            lambda result: exchange.answer(request, _response(result)),
        )

    def _put_token(self, request: Request) -> None:
        if request.properties.get("operation") != "put-token":
            raise AmqpError("amqp:not-implemented", "$cbs knows put-token alone.")
        audience = request.properties.get("name")
        if not isinstance(audience, str) or not isinstance(request.value, str):
            raise unauthorized("MalformedToken: A name and a token are needed.")
        self._verify(request.properties.get("type"), request.value)
        self._grant(request.session.connection, audience)

    def _verify(self, kind: object, token: str) -> None:
        """Checks a token for what it looks like: the Python SDK calls all of its tokens jwt."""
        if kind not in (SAS_TOKEN, JWT):
            raise unauthorized("MalformedToken: The type of the token is not known.")
        if is_sas(token):
            self._key.verify(token, time.time())
        else:
            verify_jwt(token, time.time())

    def _grant(self, connection: Connection, audience: str) -> None:
        self._audiences.setdefault(connection, set()).add(audience)


def _response(result: AmqpError | None) -> Response:
    status, text = (202, "Accepted") if result is None else failure(result)
    return Response(properties={"status-code": Int(status), "status-description": text})
