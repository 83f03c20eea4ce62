"""Receives from one queue and hands each delivery to the engine, many at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from idempotent_consumer.servicebus.delivery import to_delivery
from idempotent_consumer.servicebus.diagnosis import Role, diagnose
from idempotent_consumer.servicebus.events import (
    HandlingBroke,
    QueueAvailable,
    QueueUnavailable,
    WorkerStopped,
)
from idempotent_consumer.servicebus.settlement import ReceiverSettler
from idempotent_consumer.worker.renewal import LockRenewal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from azure.servicebus import ServiceBusReceivedMessage

    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.engine.engine import Engine
    from idempotent_consumer.engine.ports import Clock
    from idempotent_consumer.servicebus.events import WorkerTelemetry
    from idempotent_consumer.servicebus.receiver import QueueReceiver

IDLE_WAIT = 5.0
BUSY_WAIT = 0.05
LONGEST_BUSY_WAIT = 1.0
"""Seconds that a receive call waits; what is being handled cannot be settled meanwhile."""
ROUND_TRIPS = 3
"""A receive call waits for so many at least: the SDK gives back what comes after its end."""
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0

Handling = set[asyncio.Task[None]]


class QueueWorker:
    """Handles the messages of one queue until it is told to stop.

    Args:
        chance: Draws between 0 and 1, for the jitter of pauses.
        concurrency: So many deliveries are handled at a time.
        grace: Seconds that deliveries have to finish after `stop`.
    """

    def __init__(
        self,
        engine: Engine,
        receiver: QueueReceiver,
        *,
        profile: Profile,
        clock: Clock,
        telemetry: WorkerTelemetry,
        chance: Callable[[], float],
        concurrency: int = 16,
        grace: float = 25.0,
    ) -> None:
        self._engine = engine
        self._receiver = receiver
        self._renewal = LockRenewal(
            receiver, budget=profile.budget.total_seconds(), clock=clock, telemetry=telemetry
        )
        self._clock = clock
        self._telemetry = telemetry
        self._chance = chance
        self._concurrency = concurrency
        self._grace = grace
        self._stopping = asyncio.Event()
        self._handling: Handling = set()
        self._available = False
        self._failures = 0

    def stop(self) -> None:
        """Takes no more messages; `run` returns when those at hand are done."""
        self._stopping.set()

    async def run(self) -> None:
        """Receives and handles. Returns after `stop`; being cancelled counts as that.

        Raises:
            Exception: A bug of this library; what was being handled has been finished.
        """
        intake = asyncio.create_task(self._take_in())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({intake, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.stop()
            await _cancelled([intake, stopping])
            unfinished = await self._finish()
            await self._receiver.close()
            self._telemetry.record(
                WorkerStopped(queue=self._receiver.address.queue, unfinished=unfinished)
            )
        if not intake.cancelled():
            intake.result()

    async def _take_in(self) -> None:
        while not self._stopping.is_set():
            await self._free_slot()
            async with self._engine.circuit.admission() as trial:
                begun = await self._begin(alone=trial)
                if trial and begun:
                    await asyncio.wait(begun)

    async def _free_slot(self) -> None:
        if len(self._handling) >= self._concurrency:
            await asyncio.wait(self._handling, return_when=asyncio.FIRST_COMPLETED)

    async def _begin(self, *, alone: bool) -> Handling:
        """Receives what comes, one message if it is to be alone, and begins to handle it."""
        busy = bool(self._handling)
        # The SDK waits for all that it is asked for, so the first message is asked for by itself.
        count = self._concurrency - len(self._handling) if busy and not alone else 1
        try:
            messages = await self._receiver.receive(count, self._wait() if busy else IDLE_WAIT)
        except Exception as error:  # noqa: BLE001  # whatever it was, the queue is tried again
            await self._recover(error)
            return set()
        self._succeeded()
        return {self._start(message) for message in messages}

    def _wait(self) -> float:
        """How long a receive call waits while messages are being handled."""
        return min(max(BUSY_WAIT, ROUND_TRIPS * self._receiver.round_trip), LONGEST_BUSY_WAIT)

    def _start(self, message: ServiceBusReceivedMessage) -> asyncio.Task[None]:
        task = asyncio.create_task(self._handle(message))
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)
        return task

    async def _handle(self, message: ServiceBusReceivedMessage) -> None:
        delivery = to_delivery(message)
        try:
            async with self._renewal.keeping(message, delivery):
                await self._engine.handle(delivery, ReceiverSettler(self._receiver, message))
        except Exception as error:  # noqa: BLE001  # a bug met by one message spares the others
            self._telemetry.record(HandlingBroke(delivery=delivery, error=type(error).__name__))

    async def _finish(self) -> int:
        """Waits for what is being handled; what takes too long is cancelled and counted."""
        if not self._handling:
            return 0
        _, unfinished = await asyncio.wait(self._handling, timeout=self._grace)
        await _cancelled(unfinished)
        return len(unfinished)

    def _succeeded(self) -> None:
        self._failures = 0
        if not self._available:
            self._available = True
            address = self._receiver.address
            self._telemetry.record(QueueAvailable(queue=address.queue, namespace=address.namespace))

    async def _recover(self, error: Exception) -> None:
        address = self._receiver.address
        diagnosis = diagnose(error, address, Role.RECEIVER)
        pause = min(FIRST_PAUSE * 2**self._failures, LONGEST_PAUSE) * (1 + self._chance()) / 2
        self._failures += 1
        self._available = False
        self._telemetry.record(
            QueueUnavailable(
                queue=address.queue,
                namespace=address.namespace,
                cause=diagnosis.cause,
                advice=diagnosis.advice,
                retry_in=pause,
            )
        )
        await self._receiver.close()
        await self._clock.sleep(pause)


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
