"""What every settler promises the engine; each broker inherits the suite and supplies a harness."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

import pytest

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter, Hold
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.engine.settled import Settled

if TYPE_CHECKING:
    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.ports import Settler

REJECTED = DeadLetter(Reason.MALFORMED_BODY, "the body is not UTF-8")


class Whereabouts(Enum):
    """Where a message is."""

    RECEIVABLE = auto()
    LOCKED = auto()
    DEAD_LETTERED = auto()
    GONE = auto()


class SettlerHarness(Protocol):
    """A broker that holds one message."""

    async def receive(self) -> tuple[Delivery, Settler]:
        """Locks the message and hands it over."""
        ...

    def whereabouts(self) -> Whereabouts:
        """Where it is."""
        ...

    def dead_letter(self) -> tuple[str, str]:
        """Its dead-letter reason and description."""
        ...

    def lapse_lock(self) -> None:
        """Ends its lock, unknown to the settler."""
        ...


class SettlerContract:
    """The suite; a subclass supplies the fixture ``harness``."""

    @pytest.mark.parametrize(
        ("settlement", "whereabouts"),
        [
            (Complete(), Whereabouts.GONE),
            (REJECTED, Whereabouts.DEAD_LETTERED),
            (Abandon(), Whereabouts.RECEIVABLE),
            (Hold(), Whereabouts.LOCKED),
        ],
    )
    async def test_a_settlement_is_confirmed_and_moves_the_message(
        self, harness: SettlerHarness, settlement: Settlement, whereabouts: Whereabouts
    ) -> None:
        _, settler = await harness.receive()
        assert await settler.settle(settlement) is Settled.CONFIRMED
        assert harness.whereabouts() is whereabouts

    async def test_a_dead_letter_says_why(self, harness: SettlerHarness) -> None:
        _, settler = await harness.receive()
        await settler.settle(REJECTED)
        assert harness.dead_letter() == ("MalformedBody", "the body is not UTF-8")

    async def test_an_abandoned_message_comes_again_and_counts(
        self, harness: SettlerHarness
    ) -> None:
        first, settler = await harness.receive()
        await settler.settle(Abandon())
        second, _ = await harness.receive()
        assert (first.delivery_count, second.delivery_count) == (1, 2)
        assert first.sequence_number == second.sequence_number

    @pytest.mark.case("THR-05", "DEP-08")
    async def test_a_held_message_comes_again_when_its_lock_has_lapsed(
        self, harness: SettlerHarness
    ) -> None:
        _, settler = await harness.receive()
        await settler.settle(Hold())
        harness.lapse_lock()
        again, _ = await harness.receive()
        assert again.delivery_count == 2

    @pytest.mark.parametrize("settlement", [Complete(), REJECTED, Abandon()])
    async def test_a_lock_that_lapsed_is_reported_and_nothing_is_settled(
        self, harness: SettlerHarness, settlement: Settlement
    ) -> None:
        _, settler = await harness.receive()
        harness.lapse_lock()
        assert await settler.settle(settlement) is Settled.LOCK_LOST
        assert harness.whereabouts() is Whereabouts.RECEIVABLE

    async def test_a_lock_that_another_delivery_holds_is_lost(
        self, harness: SettlerHarness
    ) -> None:
        _, late = await harness.receive()
        harness.lapse_lock()
        _, current = await harness.receive()
        assert await late.settle(Complete()) is Settled.LOCK_LOST
        assert await current.settle(Complete()) is Settled.CONFIRMED

    async def test_a_second_settlement_finds_the_lock_lost(self, harness: SettlerHarness) -> None:
        _, settler = await harness.receive()
        await settler.settle(Complete())
        assert await settler.settle(Complete()) is Settled.LOCK_LOST
