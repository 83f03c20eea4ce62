"""The ``$cbs`` node: clients put tokens there before they attach anywhere else."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from local_azure.faults import Operation
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Int
from local_azure.servicebus.broker.address import Address
from local_azure.servicebus.nodes.exchange import Exchange, Request, Response, failure
from local_azure.servicebus.nodes.tokens import (
    JWT,
    SAS_TOKEN,
    covers,
    is_sas,
    unauthorized,
    verify_jwt,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.nodes.gate import Gate
    from local_azure.servicebus.nodes.tokens import SharedAccessKey

CBS = "$cbs"
_WHOLE_NAMESPACE = Address(entity="")
_MAX_AUDIENCES = 1000
_MAX_AUDIENCE = 1024


class Authorization:
    """Checks tokens, and remembers for each connection what its tokens open, and until when.

    Args:
        key: What shared access signatures are made with.
        gate: Where faults strike.
        now: The time that tokens end by, which is that of the machines that make them.
    """

    def __init__(
        self, key: SharedAccessKey, gate: Gate, now: Callable[[], float] = time.time
    ) -> None:
        self._key = key
        self._gate = gate
        self._now = now
        self._audiences: WeakKeyDictionary[Connection, dict[Address, float]] = WeakKeyDictionary()

    def allows(self, connection: Connection, address: Address) -> bool:
        """Whether the connection has put a token that opens the address and has not ended."""
        now, audiences = self._now(), self._audiences.get(connection, {})
        return any(ends > now and covers(audience, address) for audience, ends in audiences.items())

    def plain(self, connection: Connection, response: bytes) -> bool:
        """Whether SASL PLAIN opens the namespace; it then does for the whole connection."""
        opens = self._key.opens(response)
        if opens:
            self._grant(connection, _WHOLE_NAMESPACE, math.inf)
        return opens

    def respond(self, request: Request, exchange: Exchange) -> None:
        """Answers put-token."""
        try:
            audience = _audience(request)
        except AmqpError as error:
            exchange.answer(request, _response(error))
            return
        self._gate.perform(
            Operation(name="authenticate", entity=audience.entity),
            request.session.connection,
            lambda: self._put_token(request, audience),
            lambda result: exchange.answer(request, _response(result)),
        )

    def _put_token(self, request: Request, audience: Address) -> None:
        if not isinstance(request.value, str):
            raise unauthorized("MalformedToken: A token is needed.")
        ends = self._verify(request.properties.get("type"), request.value)
        self._grant(request.session.connection, audience, ends)

    def _verify(self, kind: object, token: str) -> float:
        """Checks a token for what it looks like: the Python SDK calls all of its tokens jwt."""
        if kind not in (SAS_TOKEN, JWT):
            raise unauthorized("MalformedToken: The type of the token is not known.")
        if is_sas(token):
            return self._key.verify(token, self._now())
        return verify_jwt(token, self._now())

    def _grant(self, connection: Connection, audience: Address, ends: float) -> None:
        """Opens an audience until a token ends; a new token replaces the one before."""
        audiences = self._audiences.setdefault(connection, {})
        if audience not in audiences and len(audiences) >= _MAX_AUDIENCES:
            text = f"A connection can have tokens for {_MAX_AUDIENCES} audiences."
            raise AmqpError("amqp:resource-limit-exceeded", text)
        audiences[audience] = ends
        self._watch(connection)

    # ------------------------------------------------------------ the end of tokens

    def _watch(self, connection: Connection) -> None:
        ends = min(self._audiences[connection].values(), default=math.inf)
        if ends < math.inf:
            connection.later("token", ends - self._now(), lambda: self._end_tokens(connection))

    def _end_tokens(self, connection: Connection) -> None:
        """Forgets the tokens that have ended, and ends the links that no other one opens."""
        now, audiences = self._now(), self._audiences[connection]
        for audience in [audience for audience, ends in audiences.items() if ends <= now]:
            del audiences[audience]
        connection.refuse_links(
            lambda text: text != CBS and not self.allows(connection, Address.parse(text)),
            unauthorized("ExpiredToken: The token is expired. Put a new one and attach again."),
        )
        self._watch(connection)


def _audience(request: Request) -> Address:
    """What the token of a request shall open."""
    if request.properties.get("operation") != "put-token":
        raise AmqpError("amqp:not-implemented", "$cbs knows put-token alone.")
    name = request.properties.get("name")
    if not isinstance(name, str) or len(name) > _MAX_AUDIENCE:
        raise unauthorized(f"MalformedToken: A name of up to {_MAX_AUDIENCE} characters is needed.")
    return Address.parse(name)


def _response(result: AmqpError | None) -> Response:
    status, text = (202, "Accepted") if result is None else failure(result)
    return Response(properties={"status-code": Int(status), "status-description": text})
