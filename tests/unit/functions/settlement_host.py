"""A Functions host as far as settlements go: it records them, and answers as it is told."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc.aio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from idempotent_consumer.functions.settlement_request import SettlementRequest

Context = grpc.aio.ServicerContext[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An error, in gRPC's words."""

    code: grpc.StatusCode
    details: str = ""


class Silence:
    """No answer at all."""


@dataclass
class SettlementHost:
    """Confirms each settlement, but gives the answers that were prepared first."""

    calls: list[tuple[str, bytes]] = field(default_factory=list)
    answers: list[Answer | Silence] = field(default_factory=list)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """The host's address, for as long as it is there."""
        server = grpc.aio.server()
        methods = {name: self._method(name) for name in ("Complete", "Abandon", "Deadletter")}
        handler = grpc.method_handlers_generic_handler("Settlement", methods)
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            await server.stop(grace=None)

    def received(self, request: SettlementRequest) -> bool:
        """Whether it was called in just this way, and in no other."""
        return set(self.calls) == {(request.method, request.argument)}

    def _method(self, name: str) -> grpc.RpcMethodHandler[bytes, bytes]:
        async def settle(argument: bytes, context: Context) -> bytes:
            self.calls.append((name, argument))
            match self.answers.pop(0) if self.answers else None:
                case Answer(code=code, details=details):
                    await context.abort(code, details)
                case Silence():
                    await asyncio.sleep(60)
                case None:
                    pass
            return b""

        return grpc.unary_unary_rpc_method_handler(settle)
