"""Whatever the order of two consumers' steps, and wherever one crashes: one effect, no loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.testing import Trouble
from tests.unit.core.samples import ORDER
from tests.unit.engine.interleavings import every_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.engine.bench import Bench

LOST_ANSWER = Fault(kind=FaultKind.UNAVAILABLE, cause="connection")
CHANGED = {**ORDER, "total": 3998}


def one_message(bench: Bench) -> None:
    bench.send()


def two_copies(bench: Bench) -> None:
    bench.send()
    bench.send()


def an_answer_lost(bench: Bench) -> None:
    bench.send()
    bench.store.troubles.append(Trouble(fault=LOST_ANSWER, call="commit", applied=True))


def a_changed_payload(bench: Bench) -> None:
    bench.send()
    bench.send(CHANGED)


@pytest.mark.case("CON-04", "CON-06")
@pytest.mark.parametrize(
    ("prepare", "mishaps", "at_least"),
    [(one_message, 2, 2_000), (two_copies, 1, 8_000), (an_answer_lost, 1, 300)],
    ids=["one message", "two copies", "an answer lost"],
)
def test_there_is_one_effect_and_nothing_is_lost(
    prepare: Callable[[Bench], None], mishaps: int, at_least: int
) -> None:
    runs = 0
    for bench in every_run(prepare, mishaps=mishaps):
        runs += 1
        (document,) = bench.store.documents.values()
        assert document["total"] == ORDER["total"]
        assert (len(bench.broker), bench.broker.dead_letters) == (0, [])
        assert bench.outcomes.count("applied") <= 1
    assert runs > at_least


def test_of_two_payloads_one_is_stored_and_the_other_heard_of() -> None:
    runs = 0
    for bench in every_run(a_changed_payload, mishaps=1):
        runs += 1
        (document,) = bench.store.documents.values()
        ((delivery, reason, _),) = bench.broker.dead_letters
        assert reason is Reason.REQUEST_HASH_MISMATCH
        assert {document["total"]} != {
            ORDER["total"] if b"39.98" in (delivery.body or b"") else CHANGED["total"]
        }
        assert len(bench.broker) == 0
    assert runs > 8_000
