"""An invocation: what it waits for, what it settles, and when it fails."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("azure.functions", reason="the extra functions is not installed")

import grpc
from azure.functions.meta import Datum
from opentelemetry.trace import format_trace_id, get_current_span

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.profile import LAST_MOMENT, Profile
from idempotent_consumer.engine.circuit import PARTITIONS
from idempotent_consumer.engine.stores import CALL_LIMIT
from idempotent_consumer.functions.invocation import InvocationFailed, Invocations
from idempotent_consumer.functions.settlement import SettlementService
from idempotent_consumer.testing import Trouble
from tests.unit.core.samples import ORDER, order_consumer
from tests.unit.engine.bench import Bench
from tests.unit.engine.test_engine import raising
from tests.unit.functions.samples import TRACE, context, message
from tests.unit.functions.settlement_host import Answer, SettlementHost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from typing import Any

    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.core.delivery import Message
    from idempotent_consumer.core.writes import Writes

DOWN = Fault(kind=FaultKind.UNAVAILABLE, cause="503")
MOMENT = timedelta(seconds=0.1)


@dataclass
class Functions:
    """A function on a host of its own, with an engine on fakes."""

    service: SettlementService
    host: SettlementHost
    bench: Bench = field(default_factory=Bench)

    async def invoke(self, body: object = ORDER, **metadata: Datum | None) -> None:
        invocations = Invocations(
            self.bench.engine,
            self.service,
            profile=self.bench.profile,
            clock=self.bench.clock,
        )
        await invocations.handle(message(body, **metadata), context())

    def consume(self, consumer: Consumer, profile: Profile | None = None) -> None:
        self.bench = Bench(consumer=consumer, profile=profile or Profile())

    def open_circuit(self) -> None:
        for partition in range(PARTITIONS):
            self.bench.engine.circuit.faulted(str(partition), DOWN)

    @property
    def settlements(self) -> list[str]:
        return [method for method, _ in self.host.calls]


@pytest.fixture
async def functions() -> AsyncIterator[Functions]:
    host = SettlementHost()
    async with host.listening() as address:
        service = SettlementService(address)
        yield Functions(service, host)
        await service.aclose()


async def test_a_new_message_is_applied_and_completed(functions: Functions) -> None:
    await functions.invoke()
    assert functions.bench.outcomes == ["applied"]
    assert functions.settlements == ["Complete"]


async def test_what_is_rejected_is_dead_lettered_and_no_failure(functions: Functions) -> None:
    await functions.invoke(b"\xff\xfe{}")
    assert functions.settlements == ["Deadletter"]


@pytest.mark.case("KEY-01")
async def test_body_fields_do_not_stand_in_for_the_message_id(functions: Functions) -> None:
    await functions.invoke({**ORDER, "MessageId": "ord-9", "messageId": "ord-9"}, MessageId=None)
    (handled,) = functions.bench.handled
    assert handled.outcome.cause == "MissingMessageId"


async def test_a_handler_that_fails_fails_the_invocation(functions: Functions) -> None:
    functions.consume(raising(KeyError("secret of the message")))
    with pytest.raises(InvocationFailed, match=r"^failed handler error KeyError in .*abandoned"):
        await functions.invoke()
    assert functions.settlements == ["Abandon"]


async def test_what_waits_for_the_end_of_its_lock_is_no_failure(functions: Functions) -> None:
    """An exception would have the host abandon it, and so deliver it at once."""
    functions.consume(order_consumer(), Profile(budget=MOMENT))
    functions.bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    await functions.invoke()
    assert functions.bench.outcomes == ["unavailable"]
    assert functions.settlements == []


async def test_a_settlement_that_nobody_confirms_fails_the_invocation(
    functions: Functions,
) -> None:
    functions.host.answers = [Answer(code=grpc.StatusCode.UNIMPLEMENTED)] * 2
    with pytest.raises(InvocationFailed, match="did not confirm the settlement: UNIMPLEMENTED"):
        await functions.bench.clock.run(functions.invoke())
    assert functions.bench.outcomes == ["applied"]


async def test_a_lost_lock_is_no_failure(functions: Functions) -> None:
    functions.host.answers = [Answer(code=grpc.StatusCode.FAILED_PRECONDITION)]
    await functions.invoke()
    assert functions.settlements == ["Complete"]


async def test_a_message_waits_inside_the_call_until_the_store_answers(
    functions: Functions,
) -> None:
    functions.open_circuit()
    await functions.bench.clock.run(functions.invoke())
    assert functions.bench.store.calls == ["probe", "commit"]
    assert functions.settlements == ["Complete"]


async def test_waiting_uses_up_the_budget(functions: Functions) -> None:
    """So that the engine gives up before the host would end the process."""
    functions.open_circuit()
    functions.bench.store.troubles.append(Trouble(fault=DOWN, call="commit", times=None))
    functions.bench.store.troubles.append(Trouble(fault=DOWN, call="probe", times=12))
    await functions.bench.clock.run(functions.invoke())
    (handled,) = functions.bench.handled
    assert 200 < handled.seconds <= functions.bench.profile.budget.total_seconds()


@pytest.mark.parametrize(("deliveries", "settlements"), [(9, []), (10, ["Deadletter"])])
async def test_a_message_that_has_waited_in_vain_makes_one_call_and_is_heard_of(
    functions: Functions, deliveries: int, settlements: list[str]
) -> None:
    """It is left to its lock, but for its last delivery, which names the cause."""
    functions.consume(order_consumer(), Profile(budget=timedelta(seconds=CALL_LIMIT) + MOMENT))
    functions.open_circuit()
    functions.bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    await functions.invoke(DeliveryCount=Datum(deliveries, "int"))
    (handled,) = functions.bench.handled
    assert (handled.outcome.name, handled.outcome.cause) == ("unavailable", DOWN.cause)
    assert functions.bench.store.calls == ["read"]
    assert functions.settlements == settlements


async def test_an_invocation_ends_before_the_host_would_end_the_process(
    functions: Functions,
) -> None:
    timeout = LAST_MOMENT + MOMENT
    functions.consume(order_consumer(), Profile(function_timeout=timeout))
    functions.bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    with pytest.raises(InvocationFailed, match="before the function timeout"):
        await functions.invoke()
    assert functions.settlements == []


async def test_an_aborted_invocation_settles_nothing(functions: Functions) -> None:
    functions.bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    invocation = asyncio.create_task(functions.invoke())
    for _ in range(3):  # it begins, and asks the store
        await asyncio.sleep(0)
    assert functions.bench.store.calls
    invocation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await invocation
    assert functions.settlements == []


async def test_a_handler_runs_in_the_trace_of_the_host(functions: Functions) -> None:
    traces: list[str] = []
    consumer = order_consumer()

    @consumer.handler(dict, type="traced")
    def trace(order: Mapping[str, Any], message: Message) -> Writes:
        traces.append(format_trace_id(get_current_span().get_span_context().trace_id))
        return []

    functions.consume(consumer)
    with pytest.raises(InvocationFailed, match="refused plan"):
        await functions.invoke(Subject=Datum("traced", "string"))
    assert traces == [TRACE]
    assert not get_current_span().get_span_context().is_valid
