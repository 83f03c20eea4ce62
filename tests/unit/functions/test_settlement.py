"""The client of the host's Settlement service, against a service on a real socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("grpc", reason="the extra functions is not installed")

import grpc

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter, Hold
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.functions.settlement import HostSettler, SettlementService
from idempotent_consumer.functions.settlement_request import settlement_request
from idempotent_consumer.testing import VirtualClock
from tests.unit.functions.samples import LOCK_TOKEN
from tests.unit.functions.settlement_host import Answer, SettlementHost, Silence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from idempotent_consumer.core.decide import Settlement

Code = grpc.StatusCode
GONE = Answer(code=Code.FAILED_PRECONDITION, details="LockToken 2a3e1bd1 not found")
LOST = Answer(
    code=Code.UNKNOWN,
    details="Azure.Messaging.ServiceBus.ServiceBusException: The lock supplied is invalid. "
    "Either the lock expired, or the message has already been removed. (MessageLockLost).",
)
BUSY = Answer(
    code=Code.UNKNOWN,
    details="Azure.Messaging.ServiceBus.ServiceBusException: The request was terminated "
    "because the entity is being throttled. (ServiceBusy).",
)
UNAVAILABLE = Answer(code=Code.UNAVAILABLE)


@pytest.fixture
def host() -> SettlementHost:
    return SettlementHost()


@pytest.fixture
async def service(host: SettlementHost) -> AsyncIterator[SettlementService]:
    async with host.listening() as address:
        service = SettlementService(address)
        yield service
        await service.aclose()


async def settled(
    service: SettlementService, settlement: Settlement, *, seconds_left: float = 60.0
) -> HostSettler:
    clock = VirtualClock()
    settler = HostSettler(service, LOCK_TOKEN, clock=clock, deadline=seconds_left)
    await clock.run(settler.settle(settlement))
    return settler


@pytest.mark.parametrize("settlement", [Complete(), Abandon(), DeadLetter(Reason.TOO_LARGE, "")])
async def test_the_host_is_told_once_and_confirms(
    host: SettlementHost,
    service: SettlementService,
    settlement: Complete | Abandon | DeadLetter,
) -> None:
    settler = await settled(service, settlement)
    assert settler.settled is Settled.CONFIRMED
    assert host.received(settlement_request(settlement, LOCK_TOKEN))
    assert len(host.calls) == 1


async def test_what_is_held_is_not_mentioned(
    host: SettlementHost, service: SettlementService
) -> None:
    settler = await settled(service, Hold())
    assert settler.settled is Settled.CONFIRMED
    assert host.calls == []


@pytest.mark.parametrize(
    ("answers", "expected", "calls"),
    [
        ([GONE], Settled.LOCK_LOST, 1),
        ([LOST], Settled.LOCK_LOST, 1),
        ([BUSY], Settled.CONFIRMED, 2),
        ([UNAVAILABLE], Settled.CONFIRMED, 2),
        ([UNAVAILABLE, LOST], Settled.LOCK_LOST, 2),
        ([UNAVAILABLE, UNAVAILABLE], Settled.UNKNOWN, 2),
        ([BUSY, Answer(code=Code.UNIMPLEMENTED)], Settled.UNKNOWN, 2),
    ],
)
async def test_what_is_not_certain_is_asked_once_more_and_for_the_same_thing(
    host: SettlementHost,
    service: SettlementService,
    answers: list[Answer | Silence],
    expected: Settled,
    calls: int,
) -> None:
    host.answers = [*answers]
    settlement = DeadLetter(Reason.TOO_LARGE, "2 MB")
    settler = await settled(service, settlement)
    assert settler.settled is expected
    assert len(host.calls) == calls
    assert host.received(settlement_request(settlement, LOCK_TOKEN))


async def test_a_host_that_hangs_costs_the_time_left_and_no_more(
    host: SettlementHost, service: SettlementService
) -> None:
    host.answers = [Silence(), Silence()]
    async with asyncio.timeout(5):
        settler = await settled(service, Complete(), seconds_left=0.2)
    assert (settler.settled, settler.cause) == (Settled.UNKNOWN, "DEADLINE_EXCEEDED")
    assert len(host.calls) == 1


async def test_nothing_is_asked_once_the_time_is_up(
    host: SettlementHost, service: SettlementService
) -> None:
    settler = await settled(service, Complete(), seconds_left=0.0)
    assert (settler.settled, settler.cause) == (Settled.UNKNOWN, "no time left")
    assert host.calls == []


async def test_a_host_that_is_gone_confirms_nothing(host: SettlementHost) -> None:
    async with host.listening() as address:
        pass
    service = SettlementService(address)
    settler = await settled(service, Complete())
    await service.aclose()
    assert (settler.settled, settler.cause) == (Settled.UNKNOWN, "UNAVAILABLE")


async def test_a_proxy_does_not_stand_between_worker_and_host(
    host: SettlementHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    async with host.listening() as address:
        service = SettlementService(address)
        assert (await settled(service, Complete())).settled is Settled.CONFIRMED
        await service.aclose()
