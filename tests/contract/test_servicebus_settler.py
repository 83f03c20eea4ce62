"""The settler on the SDK's receiver keeps the promises of a settler, whatever the wire does."""

from __future__ import annotations

import asyncio
import gc
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from azure.servicebus import ServiceBusMessage

from idempotent_consumer.core.decide import Complete
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.servicebus import settlement
from idempotent_consumer.servicebus.client import POLL, client_from_connection_string
from idempotent_consumer.servicebus.delivery import to_delivery
from idempotent_consumer.servicebus.receiver import QueueReceiver
from idempotent_consumer.servicebus.settlement import ReceiverSettler
from local_azure.faults import Drop, Fail, Hang
from tests.contract.settler_contract import SettlerContract, Whereabouts
from tests.hosts.emulated import LOCK, QUEUE, breaks_connections, local_bus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus.aio import ServiceBusSender

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.ports import Settler
    from local_azure.servicebus import LocalServiceBus


@dataclass
class EmulatedHarness:
    bus: LocalServiceBus
    receiver: QueueReceiver
    sender: ServiceBusSender

    async def begin_anew(self) -> None:
        """Leaves one message, which nobody has received yet."""
        self.bus.clock.advance(LOCK.total_seconds() + 1)
        for queue in (self.bus.queue(QUEUE), self.bus.queue(f"{QUEUE}/$DeadLetterQueue")):
            while message := queue.receive(self.bus.clock.now()):
                assert message.lock
                queue.complete(message.lock.token, self.bus.clock.now())
        await self.sender.send_messages(ServiceBusMessage(b"{}", message_id="ord-1001"))

    async def receive(self) -> tuple[Delivery, Settler]:
        (message,) = await self.receiver.receive(1, 5)
        return to_delivery(message), ReceiverSettler(self.receiver, message)

    def whereabouts(self) -> Whereabouts:
        queue = self.bus.queue(QUEUE)
        if queue.locked_count:
            return Whereabouts.LOCKED
        if queue.dead_letter_count:
            return Whereabouts.DEAD_LETTERED
        return Whereabouts.RECEIVABLE if queue.active_count else Whereabouts.GONE

    def dead_letter(self) -> tuple[str, str]:
        (message,) = self.bus.queue(f"{QUEUE}/$DeadLetterQueue").messages
        assert message.dead_letter
        return message.dead_letter.reason, message.dead_letter.description

    def lapse_lock(self) -> None:
        self.bus.clock.advance(LOCK.total_seconds() + 1)


@asynccontextmanager
async def emulated() -> AsyncIterator[EmulatedHarness]:
    async with (
        local_bus() as bus,
        client_from_connection_string(bus.connection_string) as client,
        client.get_queue_sender(QUEUE, socket_timeout=POLL, keep_alive=0) as sender,
    ):
        receiver = QueueReceiver(client, QUEUE)
        yield EmulatedHarness(bus, receiver, sender)
        await receiver.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[EmulatedHarness]:
    """Opening links takes the SDK half a second; the suite does that once."""
    async with emulated() as harness:
        yield harness


@pytest.mark.asyncio(loop_scope="module")
class TestReceiverSettler(SettlerContract):
    @pytest_asyncio.fixture(loop_scope="module")
    async def harness(self, opened: EmulatedHarness) -> EmulatedHarness:
        await opened.begin_anew()
        return opened

    async def test_an_error_of_the_broker_leaves_the_outcome_unknown(
        self, harness: EmulatedHarness
    ) -> None:
        _, settler = await harness.receive()
        harness.bus.faults.add(Fail(code="com.microsoft:argument-error"), operation="complete")
        assert await settler.settle(Complete()) is Settled.UNKNOWN

    async def test_an_answer_that_never_comes_is_not_awaited_for_ever(
        self, harness: EmulatedHarness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(settlement, "LIMIT", 0.2)
        _, settler = await harness.receive()
        harness.bus.faults.add(Hang(applied=True), operation="complete")
        assert await settler.settle(Complete()) is Settled.UNKNOWN

    async def test_cancellation_passes_through(self, harness: EmulatedHarness) -> None:
        _, settler = await harness.receive()
        harness.bus.faults.add(Hang(applied=False), operation="complete")
        settling = asyncio.create_task(settler.settle(Complete()))
        await asyncio.sleep(0.05)
        settling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await settling


@pytest.fixture
async def harness() -> AsyncIterator[EmulatedHarness]:
    async with emulated() as harness:
        await harness.begin_anew()
        yield harness
    gc.collect()


@breaks_connections
async def test_a_completion_that_was_lost_with_the_connection_is_sent_again(
    harness: EmulatedHarness,
) -> None:
    _, settler = await harness.receive()
    harness.bus.faults.add(Drop(applied=False), operation="complete")
    assert await settler.settle(Complete()) is Settled.CONFIRMED
    assert harness.whereabouts() is Whereabouts.GONE


@breaks_connections
async def test_a_completion_whose_answer_was_lost_finds_the_lock_lost(
    harness: EmulatedHarness,
) -> None:
    _, settler = await harness.receive()
    harness.bus.faults.add(Drop(applied=True), operation="complete")
    assert await settler.settle(Complete()) is Settled.LOCK_LOST
    assert harness.whereabouts() is Whereabouts.GONE


async def test_a_message_is_settled_through_a_receiver_that_did_not_take_it(
    harness: EmulatedHarness,
) -> None:
    _, settler = await harness.receive()
    await harness.receiver.close()
    assert await settler.settle(Complete()) is Settled.CONFIRMED
    assert harness.whereabouts() is Whereabouts.GONE
