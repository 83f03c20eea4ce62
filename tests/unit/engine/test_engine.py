from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from idempotent_consumer.core.commit import Collided, Fault, FaultKind
from idempotent_consumer.core.consumer import Consumer, Container
from idempotent_consumer.core.decide import Abandon, DeadLetter, Hold
from idempotent_consumer.core.entity import Entity
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.writes import Create
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.testing import MemoryStore, Trouble
from tests.unit.core.samples import ORDER
from tests.unit.engine.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from idempotent_consumer.core.commit import CommitResult
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.writes import Write

UNAVAILABLE = Fault(kind=FaultKind.UNAVAILABLE, cause="503")
THROTTLED = Fault(kind=FaultKind.THROTTLED, cause="429", retry_after=7.0)


def consumer_that(handle: Any) -> Consumer:
    consumer = Consumer("order-processor", Container("shop/orders", "/orderId"), marker=Entity())
    consumer.handler(dict)(handle)
    return consumer


def raising(error: BaseException) -> Consumer:
    def handle(_order: Any, _message: Any) -> Sequence[Write]:
        raise error

    return consumer_that(handle)


async def test_a_new_message_costs_one_store_call() -> None:
    bench = Bench()
    bench.send()
    assert (await bench.handle_next()).name is OutcomeName.APPLIED
    assert bench.store.calls == ["commit"]
    assert len(bench.broker) == 0


async def test_a_redelivery_costs_one_read() -> None:
    bench = Bench()
    bench.send()
    received = bench.broker.receive()
    assert received is not None
    bench.broker.lapse_locks()
    await bench.engine.handle(*received)
    bench.store.calls.clear()
    assert (await bench.handle_next()).cause == "redelivery"
    assert bench.store.calls == ["read"]


@pytest.mark.case("TTL-04")
async def test_a_re_send_costs_two_calls_and_writes_nothing() -> None:
    bench = Bench()
    bench.send()
    await bench.handle_next()
    stored = dict(bench.store.documents)
    bench.store.calls.clear()
    bench.send()
    assert (await bench.handle_next()).cause == "producer re-send"
    assert bench.store.calls == ["commit", "read"]
    assert bench.store.documents == stored


@pytest.mark.case("TTL-05")
async def test_what_a_dead_letter_queue_adds_makes_no_other_message() -> None:
    """Tools that send a dead letter again send its reason along."""
    bench = Bench()
    bench.send()
    await bench.handle_next()
    bench.send(properties={"DeadLetterReason": "x"}, correlation_id="another")
    assert (await bench.handle_next()).name is OutcomeName.DUPLICATE


@pytest.mark.case("HASH-12")
async def test_a_changed_payload_is_dead_lettered_and_changes_nothing() -> None:
    bench = Bench()
    bench.send()
    await bench.handle_next()
    stored = dict(bench.store.documents)
    bench.send({**ORDER, "total": 3998})
    await bench.handle_next()
    (_delivery, reason, description), *_ = bench.broker.dead_letters
    assert reason is Reason.REQUEST_HASH_MISMATCH
    assert description.endswith("differing: total")
    assert bench.store.documents == stored


@pytest.mark.case("POI-01")
async def test_an_unreadable_message_never_reaches_the_store() -> None:
    bench = Bench()
    bench.send(b"{")
    bench.send(message_id=None)
    await bench.handle_next()
    await bench.handle_next()
    assert bench.store.calls == []
    assert [reason for _, reason, _ in bench.broker.dead_letters] == [
        Reason.MALFORMED_BODY,
        Reason.MISSING_MESSAGE_ID,
    ]


@pytest.mark.case("AMB-01")
async def test_a_lost_answer_is_recovered_as_our_own_write() -> None:
    bench = Bench()
    bench.store.troubles.append(Trouble(fault=UNAVAILABLE, applied=True))
    bench.send()
    outcome = await bench.handle_next()
    assert (outcome.name, outcome.cause) == (OutcomeName.APPLIED, "own write recovered")
    assert len(bench.broker) == 0


@pytest.mark.case("THR-01")
async def test_retries_wait_as_long_as_the_store_asks() -> None:
    bench = Bench()
    bench.store.troubles.append(Trouble(fault=THROTTLED, times=2))
    bench.send()
    assert (await bench.handle_next()).name is OutcomeName.APPLIED
    assert bench.clock.monotonic() == pytest.approx(14.0)


@pytest.mark.case("AMB-04")
async def test_when_the_budget_is_gone_the_message_is_held() -> None:
    bench = Bench()
    bench.store.troubles.append(Trouble(fault=UNAVAILABLE, times=None))
    bench.send()
    await bench.handle_next()
    assert isinstance(bench.handled[-1].settlement, Hold)
    assert 200 < bench.handled[-1].seconds <= bench.profile.budget.total_seconds()
    assert len(bench.broker) == 1


async def test_the_last_delivery_names_the_cause() -> None:
    bench = Bench()
    bench.store.troubles.append(Trouble(fault=UNAVAILABLE, times=None))
    bench.send()
    for _ in range(bench.profile.max_deliveries):
        await bench.handle_next()
        bench.clock.advance(bench.broker.lock)
    assert [(r, d) for _, r, d in bench.broker.dead_letters] == [
        (Reason.RETRIES_EXHAUSTED, "unavailable: 503")
    ]


@pytest.mark.case("POI-03")
async def test_a_handler_bug_has_five_tries_of_which_two_at_once() -> None:
    bench = Bench(consumer=raising(RuntimeError("a secret value")))
    bench.send()
    for _ in range(5):
        await bench.handle_next()
        bench.clock.advance(bench.broker.lock)
    kinds = [type(event.settlement) for event in bench.handled]
    assert kinds == [Abandon, Abandon, Hold, Hold, DeadLetter]
    ((_, reason, description),) = bench.broker.dead_letters
    assert reason is Reason.HANDLER_ERROR
    assert description.startswith("RuntimeError in handle (test_engine.py:")
    assert "secret" not in description


@pytest.mark.parametrize("mistake", [ValueError("secret"), None, b"secret"], ids=repr)
async def test_a_rejection_that_says_no_text_is_a_handler_bug(mistake: Any) -> None:
    def handle(_order: Any, _message: Any) -> Sequence[Write]:
        raise Rejected(mistake)

    bench = Bench(consumer=consumer_that(handle))
    bench.send()
    outcome = await bench.handle_next()
    assert outcome.name is OutcomeName.FAILED
    assert outcome.description.startswith("TypeError in handle (test_engine.py:")


class PanicException(BaseException):
    """As what is written in Rust raises it."""


@pytest.mark.case("POI-03")
@pytest.mark.parametrize("kind", [PanicException, asyncio.CancelledError, GeneratorExit])
async def test_a_panic_is_a_handler_bug(kind: type[BaseException]) -> None:
    """Nothing cancels a function that awaits nothing."""
    bench = Bench(consumer=raising(kind("secret")))
    bench.send()
    outcome = await bench.handle_next()
    assert outcome.name is OutcomeName.FAILED
    assert outcome.description.startswith(f"{kind.__name__} in handle (test_engine.py:")


async def test_what_no_utf_8_can_say_is_said_otherwise() -> None:
    bench = Bench(consumer=raising(Rejected("sold \ud800 out")))
    bench.send()
    await bench.handle_next()
    assert [text for _, _, text in bench.broker.dead_letters] == ["sold \\ud800 out"]


async def test_a_message_that_its_handler_rejects_goes_at_once() -> None:
    bench = Bench(consumer=raising(Rejected("the shop is closed")))
    bench.send()
    await bench.handle_next()
    assert [(r, d) for _, r, d in bench.broker.dead_letters] == [
        (Reason.REJECTED_BY_HANDLER, "the shop is closed")
    ]


async def test_a_copy_of_an_applied_message_is_a_duplicate_whatever_its_handler_says_now() -> None:
    bench = Bench()
    bench.send()
    await bench.handle_next()
    bench.consumer = raising(Rejected("sold out"))
    bench.engine = bench.new_engine(bench.store)
    bench.send()
    assert (await bench.handle_next()).name is OutcomeName.DUPLICATE
    assert bench.broker.dead_letters == []


async def test_a_plan_that_is_refused_counts_as_a_handler_bug() -> None:
    bench = Bench(consumer=consumer_that(lambda _order, _message: []))
    bench.send()
    outcome = await bench.handle_next()
    assert (outcome.name, outcome.cause) == (OutcomeName.FAILED, "refused plan")


@pytest.mark.case("BAT-06")
async def test_a_document_that_somebody_else_created_is_no_duplicate() -> None:
    bench = Bench(
        consumer=consumer_that(lambda order, _message: [Create(order), Create({"id": "line"})])
    )
    bench.store.documents["ord-1001", "line"] = {"id": "line"}
    bench.send()
    await bench.handle_next()
    assert [reason for _, reason, _ in bench.broker.dead_letters] == [Reason.CONFLICT_NOT_DUPLICATE]


@pytest.mark.case("AMB-07")
async def test_a_conflict_without_a_document_is_committed_once_more() -> None:
    """The document expired, or a replica lags: neither is a duplicate."""

    class Ghost(MemoryStore):
        answers: ClassVar = [Collided(0)]

        async def commit(self, plan: Plan) -> CommitResult:
            return self.answers.pop() if self.answers else await super().commit(plan)

    bench = Bench(store=Ghost())
    bench.send()
    assert (await bench.handle_next()).name is OutcomeName.APPLIED


@pytest.mark.case("LOCK-01")
async def test_a_lost_lock_is_reported_and_the_redelivery_recognised() -> None:
    bench = Bench()
    bench.send()
    received = bench.broker.receive()
    assert received is not None
    bench.clock.advance(bench.broker.lock)
    await bench.engine.handle(*received)
    assert bench.handled[-1].settled is Settled.LOCK_LOST
    assert (await bench.handle_next()).name is OutcomeName.DUPLICATE


async def test_a_cancelled_delivery_is_left_unsettled() -> None:
    bench = Bench()
    bench.store.troubles.append(Trouble(fault=UNAVAILABLE, times=None))
    bench.send()
    received = bench.broker.receive()
    assert received is not None
    handling = asyncio.ensure_future(bench.engine.handle(*received))
    await asyncio.sleep(0)
    handling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handling
    assert bench.handled == []
    assert len(bench.broker) == 1


@pytest.mark.case("CON-01")
async def test_concurrent_copies_take_effect_once() -> None:
    bench = Bench()
    for _ in range(20):
        bench.send()
    received = [bench.broker.receive() for _ in range(20)]
    await bench.clock.run(
        asyncio.wait_for(asyncio.gather(*(bench.engine.handle(*r) for r in received if r)), None)
    )
    assert sorted(bench.outcomes) == ["applied", *["duplicate"] * 19]
    assert len(bench.store.documents) == 1
