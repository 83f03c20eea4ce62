"""The host's settler keeps what every settler promises; Microsoft's protobuf reads its bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip(
    "azure_functions_runtime",
    reason="azure-functions-runtime is not installed (Python 3.13 only): make functions-test",
)

import grpc.aio

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.functions.settlement import HostSettler, SettlementService
from idempotent_consumer.testing import MemoryBroker, VirtualClock
from tests.contract.settler_contract import SettlerContract, Whereabouts
from tests.hosts.functions.protocol import Empty, settlement_services

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.ports import Settler
    from idempotent_consumer.testing import MemorySettler

Context = grpc.aio.ServicerContext[Any, Any]


@dataclass
class HostOfBroker:
    """A host whose messages are in a broker in memory."""

    broker: MemoryBroker = field(default_factory=lambda: MemoryBroker(clock=VirtualClock()))
    delivered: dict[str, MemorySettler] = field(default_factory=dict)

    async def Complete(self, request: Any, context: Context) -> Any:  # noqa: N802
        return await self._settle(request, Complete(), context)

    async def Abandon(self, request: Any, context: Context) -> Any:  # noqa: N802
        return await self._settle(request, Abandon(), context)

    async def Deadletter(self, request: Any, context: Context) -> Any:  # noqa: N802
        reason = Reason(request.deadletterReason.value)
        settlement = DeadLetter(reason, request.deadletterErrorDescription.value)
        return await self._settle(request, settlement, context)

    async def _settle(self, request: Any, settlement: Settlement, context: Context) -> Any:
        settled = await self.delivered[request.locktoken].settle(settlement)
        if settled is Settled.LOCK_LOST:
            await context.abort(grpc.StatusCode.UNKNOWN, "... no longer valid. (MessageLockLost).")
        return Empty()


@dataclass
class Harness:
    """See `SettlerHarness`."""

    host: HostOfBroker
    service: SettlementService

    async def receive(self) -> tuple[Delivery, Settler]:
        received = self.host.broker.receive()
        assert received
        delivery, settler = received
        self.host.delivered[delivery.lock_token] = settler
        return delivery, HostSettler(
            self.service, delivery.lock_token, clock=SystemClock(), deadline=float("inf")
        )

    def whereabouts(self) -> Whereabouts:
        broker = self.host.broker
        if broker.dead_letters:
            return Whereabouts.DEAD_LETTERED
        if not len(broker):
            return Whereabouts.GONE
        return Whereabouts.LOCKED if broker.has_locks else Whereabouts.RECEIVABLE

    def dead_letter(self) -> tuple[str, str]:
        ((_, reason, description),) = self.host.broker.dead_letters
        return reason, description

    def lapse_lock(self) -> None:
        self.host.broker.lapse_locks()


class TestHostSettler(SettlerContract):
    """The suite, on the host's Settlement service."""

    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        host, server = HostOfBroker(), grpc.aio.server()
        host.broker.send(b"{}", "ord-1001")
        settlement_services.add_SettlementServicer_to_server(host, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        service = SettlementService(f"127.0.0.1:{port}")
        yield Harness(host, service)
        await service.aclose()
        await server.stop(grace=None)
