"""Tells the Functions host what becomes of a delivery, and the host tells Service Bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc.aio

from idempotent_consumer.core.decide import Hold
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.functions.settlement_request import settlement_request

if TYPE_CHECKING:
    from grpc.aio import UnaryUnaryMultiCallable

    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.engine.ports import Clock
    from idempotent_consumer.functions.settlement_request import SettlementRequest

TRIES = 2
CALL_LIMIT = 10.0
"""Seconds for one try; without a limit a host that hangs would hang the invocation."""
PAUSE = 1.0
"""Seconds between the tries; gRPC itself waits as long before it connects again."""

_OPTIONS = (("grpc.enable_http_proxy", 0),)  # the host is on this machine


class SettlementService:
    """The host's Settlement service, on the event loop that is running.

    Args:
        address: ``host:port``.
    """

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)

    async def call(self, request: SettlementRequest, *, timeout: float) -> None:  # noqa: ASYNC109
        """Settles a message.

        Raises:
            grpc.aio.AioRpcError: The host refused, or did not answer.
        """
        path = f"/Settlement/{request.method}"
        method: UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(path)
        await method(request.argument, timeout=timeout)

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._channel.close()


class HostSettler:
    """Settles one delivery: a `Settler`. Asks twice at most, and for the same thing.

    Args:
        deadline: By the clock's `monotonic`; nothing is asked or awaited after it.

    Attributes:
        settlement: What was to be told.
        settled: What became of it.
        cause: Why it was not confirmed: mostly the status of the last call.
    """

    def __init__(
        self, service: SettlementService, lock_token: str, *, clock: Clock, deadline: float
    ) -> None:
        self.settlement: Settlement = Hold()
        self.settled = Settled.CONFIRMED
        self.cause = ""
        self._service = service
        self._lock_token = lock_token
        self._clock = clock
        self._deadline = deadline

    async def settle(self, settlement: Settlement) -> Settled:
        self.settlement = settlement
        if not isinstance(settlement, Hold):
            self.settled = await self._ask(settlement_request(settlement, self._lock_token))
        return self.settled

    async def _ask(self, request: SettlementRequest) -> Settled:
        settled = await self._ask_once(request)
        for _ in range(TRIES - 1):
            if settled is Settled.UNKNOWN and self._time_left() > PAUSE:
                await self._clock.sleep(PAUSE)
                settled = await self._ask_once(request)
        return settled

    async def _ask_once(self, request: SettlementRequest) -> Settled:
        left = self._time_left()
        if left <= 0:
            self.cause = "no time left"
            return Settled.UNKNOWN
        try:
            await self._service.call(request, timeout=min(left, CALL_LIMIT))
        except grpc.aio.AioRpcError as error:
            self.cause = error.code().name
            return Settled.LOCK_LOST if _is_lock_lost(error) else Settled.UNKNOWN
        return Settled.CONFIRMED

    def _time_left(self) -> float:
        return self._deadline - self._clock.monotonic()


def _is_lock_lost(error: grpc.aio.AioRpcError) -> bool:
    """Whether the host, or Service Bus, no longer knows the lock token.

    The host answers with FAILED_PRECONDITION for a token that it has handed back. An error
    of Service Bus comes as UNKNOWN with the text of the exception, which ends in the reason:
    ``(MessageLockLost)``.
    """
    match error.code():
        case grpc.StatusCode.FAILED_PRECONDITION:
            return True
        case grpc.StatusCode.UNKNOWN:
            return "LockLost" in (error.details() or "")
        case _:
            return False
