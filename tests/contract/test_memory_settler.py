"""The fake of the broker keeps the promises of the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.testing import MemoryBroker, VirtualClock
from tests.contract.settler_contract import SettlerContract, Whereabouts

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.ports import Settler


@dataclass
class MemoryHarness:
    broker: MemoryBroker = field(default_factory=lambda: MemoryBroker(clock=VirtualClock()))

    def __post_init__(self) -> None:
        self.broker.send(b"{}", "ord-1001")

    async def receive(self) -> tuple[Delivery, Settler]:
        received = self.broker.receive()
        assert received is not None
        return received

    def whereabouts(self) -> Whereabouts:
        if self.broker.has_locks:
            return Whereabouts.LOCKED
        if self.broker.dead_letters:
            return Whereabouts.DEAD_LETTERED
        return Whereabouts.RECEIVABLE if len(self.broker) else Whereabouts.GONE

    def dead_letter(self) -> tuple[str, str]:
        ((_, reason, description),) = self.broker.dead_letters
        return reason, description

    def lapse_lock(self) -> None:
        self.broker.lapse_locks()


class TestMemorySettler(SettlerContract):
    @pytest.fixture
    def harness(self) -> MemoryHarness:
        return MemoryHarness()


def test_a_send_inside_the_window_is_dropped_and_one_outside_it_is_not() -> None:
    clock = VirtualClock()
    broker = MemoryBroker(clock=clock, window=20)
    broker.send(b"{}", "ord-1001")
    broker.send(b"{}", "ord-1001")
    clock.advance(20)
    broker.send(b"{}", "ord-1001")
    assert (len(broker), broker.dropped) == (2, 1)


def test_a_message_has_so_many_deliveries_and_no_more() -> None:
    broker = MemoryBroker(clock=VirtualClock(), max_deliveries=2)
    broker.send(b"{}", "ord-1001")
    for _ in range(2):
        assert broker.receive() is not None
        broker.lapse_locks()
    assert broker.receive() is None
    assert [reason for _, reason, _ in broker.dead_letters] == ["MaxDeliveryCountExceeded"]
