"""A store outage costs no message its last delivery, and the intake stops meanwhile."""

from __future__ import annotations

import pytest

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.engine.events import CircuitClosed, CircuitOpened
from idempotent_consumer.testing import Trouble
from tests.unit.core.samples import ORDER
from tests.unit.engine.bench import Bench
from tests.unit.engine.test_engine import raising

HALF_AN_HOUR = 1800.0
DOWN = Fault(kind=FaultKind.UNAVAILABLE, cause="503")
FORBIDDEN = Fault(kind=FaultKind.MISCONFIGURED, cause="403", advice="grant the role")
BUSY = Fault(kind=FaultKind.UNAVAILABLE, cause="449", local=True)


def send_orders(bench: Bench, count: int) -> None:
    for number in range(count):
        order_id = f"ord-{number}"
        bench.send({**ORDER, "orderId": order_id}, order_id)


@pytest.mark.case("THR-04")
@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(fault=DOWN, times=None),
        Trouble(fault=FORBIDDEN, times=None),
        Trouble(fault=FORBIDDEN, times=None, call="commit"),
    ],
    ids=["everything answers 503", "everything answers 403", "only writes answer 403"],
)
async def test_half_an_hour_of_faults_dead_letters_nothing(trouble: Trouble) -> None:
    bench = Bench()
    send_orders(bench, 20)
    bench.store.troubles.append(trouble)
    await bench.work(healed=HALF_AN_HOUR, until=HALF_AN_HOUR + 600)
    assert len(bench.store.documents) == 20
    assert (len(bench.broker), bench.broker.dead_letters) == (0, [])


async def test_during_an_outage_new_messages_are_left_in_the_queue() -> None:
    bench = Bench()
    send_orders(bench, 100)
    bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    await bench.work(healed=HALF_AN_HOUR, until=HALF_AN_HOUR)
    assert len({event.delivery.message_id for event in bench.handled}) <= 4


async def test_the_circuit_says_once_that_it_opened_and_once_that_it_closed() -> None:
    bench = Bench()
    send_orders(bench, 10)
    bench.store.troubles.append(Trouble(fault=FORBIDDEN, times=None))
    await bench.work(healed=HALF_AN_HOUR, until=HALF_AN_HOUR + 600)
    opened, closed = (
        event
        for event in bench.telemetry.events
        if isinstance(event, CircuitOpened | CircuitClosed)
    )
    assert opened == CircuitOpened(container="shop/orders", cause="403", advice="grant the role")
    assert isinstance(closed, CircuitClosed)
    assert closed.seconds >= HALF_AN_HOUR - 60


async def test_one_busy_document_opens_no_circuit() -> None:
    bench = Bench()
    send_orders(bench, 10)
    bench.store.troubles.append(Trouble(fault=BUSY, times=20))
    await bench.work(until=600)
    assert len(bench.store.documents) == 10
    assert not any(isinstance(event, CircuitOpened) for event in bench.telemetry.events)


async def test_one_partition_in_trouble_opens_the_circuit_only_if_it_lasts() -> None:
    bench = Bench()
    bench.send()
    bench.store.troubles.append(Trouble(fault=DOWN, times=3))
    await bench.work(until=20)
    assert not any(isinstance(event, CircuitOpened) for event in bench.telemetry.events)
    bench.send({**ORDER, "orderId": "ord-2"}, "ord-2")
    bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    await bench.work(healed=120, until=120)
    assert any(isinstance(event, CircuitOpened) for event in bench.telemetry.events)


async def test_a_handler_bug_right_after_an_outage_still_has_its_five_tries() -> None:
    bench = Bench(consumer=raising(KeyError()))
    bench.send()
    bench.store.troubles.append(Trouble(fault=DOWN, times=None))
    await bench.work(healed=900, until=1800)
    during = bench.outcomes.index("failed")
    assert during >= 1
    assert bench.outcomes == ["unavailable"] * during + ["failed"] * 5
    assert [reason for _, reason, _ in bench.broker.dead_letters] == [Reason.HANDLER_ERROR]
