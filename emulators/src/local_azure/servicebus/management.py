"""The ``$management`` node of a queue: requests about single messages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from local_azure.faults import Operation
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Array, Int, Symbol
from local_azure.servicebus.content import timestamp
from local_azure.servicebus.exchange import Exchange, Request, Response, failure
from local_azure.servicebus.settlement import from_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.content import WireContent
    from local_azure.servicebus.gate import Gate
    from local_azure.servicebus.queue import Queue

_PREFIX = "com.microsoft:"


class Management:
    """Answers the requests about a queue."""

    def __init__(self, queue: Queue[WireContent], gate: Gate) -> None:
        self._queue = queue
        self._gate = gate

    def respond(self, request: Request, exchange: Exchange) -> None:
        """Carries a request out and answers it."""
        try:
            operation, effect = self._plan(request)
        except AmqpError as error:
            exchange.answer(request, _response(error))
            return
        self._gate.perform(
            operation,
            request.session.connection,
            effect,
            lambda result: exchange.answer(request, _response(result)),
        )

    def _plan(self, request: Request) -> tuple[Operation, Callable[[], dict[object, object]]]:
        body = request.value if isinstance(request.value, dict) else {}
        match str(request.properties.get("operation")).removeprefix(_PREFIX):
            case "renew-lock":
                tokens = _lock_tokens(body)
                return self._operation("renew", tokens), lambda: self._renew(tokens)
            case "update-disposition":
                tokens, settlement = _lock_tokens(body), from_status(body)

                def settle() -> dict[object, object]:
                    for token in tokens:
                        settlement.apply(self._queue, token, self._gate.clock.now())
                    return {}

                return self._operation(settlement.operation, tokens), settle
            case other:
                raise AmqpError("amqp:not-implemented", f"{other!r} is not emulated yet.")

    def _operation(self, name: str, tokens: list[UUID]) -> Operation:
        message = self._queue.locked(tokens[0])
        key = None if message is None else message.message_id
        return Operation(name=name, entity=self._queue.name, key=key)

    def _renew(self, tokens: list[UUID]) -> dict[object, object]:
        clock = self._gate.clock
        locks = [self._queue.renew(token, clock.now()) for token in tokens]
        return {"expirations": Array(timestamp(clock.on_wall(lock.until)) for lock in locks)}


def _lock_tokens(body: dict[object, object]) -> list[UUID]:
    tokens = body.get("lock-tokens")
    listed = tokens if isinstance(tokens, list) else []
    if not listed or not all(isinstance(token, UUID) for token in listed):
        raise AmqpError("com.microsoft:argument-error", "lock-tokens are needed.")
    return listed


def _response(result: dict[object, object] | AmqpError) -> Response:
    if isinstance(result, AmqpError):
        status, text = failure(result)
        return Response(
            properties={
                "statusCode": Int(status),
                "statusDescription": text,
                "errorCondition": Symbol(result.condition),
            }
        )
    return Response(properties={"statusCode": Int(200), "statusDescription": "OK"}, value=result)
