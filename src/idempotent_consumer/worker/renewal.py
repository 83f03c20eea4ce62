"""Keeps a message locked while it is being handled."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from azure.servicebus.exceptions import MessageAlreadySettled, MessageLockLostError

from idempotent_consumer.servicebus.events import LockNotRenewed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus import ServiceBusReceivedMessage

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.ports import Clock
    from idempotent_consumer.servicebus.events import WorkerTelemetry
    from idempotent_consumer.servicebus.receiver import QueueReceiver

SHORTEST_PAUSE = 0.2
LONGEST_CALL = 5.0
"""Seconds for which a renewal may keep the receiver from others."""


class LockRenewal:
    """Renews locks at half of the time that is left of them.

    Args:
        budget: Seconds for which a message is kept locked at most.
    """

    def __init__(
        self,
        receiver: QueueReceiver,
        *,
        budget: float,
        clock: Clock,
        telemetry: WorkerTelemetry,
    ) -> None:
        self._receiver = receiver
        self._budget = budget
        self._clock = clock
        self._telemetry = telemetry

    @asynccontextmanager
    async def keeping(
        self, message: ServiceBusReceivedMessage, delivery: Delivery
    ) -> AsyncIterator[None]:
        """Keeps the message locked within the context."""
        renewing = asyncio.create_task(self._keep(message, delivery))
        try:
            yield
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing

    async def _keep(self, message: ServiceBusReceivedMessage, delivery: Delivery) -> None:
        deadline = self._clock.monotonic() + self._budget
        while (left := self._time_left(message)) > 0:
            pause = max(left / 2, SHORTEST_PAUSE)
            if self._clock.monotonic() + pause >= deadline:
                return
            await self._clock.sleep(pause)
            if not await self._renew(message, delivery):
                return

    def _time_left(self, message: ServiceBusReceivedMessage) -> float:
        until = message.locked_until_utc
        return 0.0 if until is None else (until - self._clock.now()).total_seconds()

    async def _renew(self, message: ServiceBusReceivedMessage, delivery: Delivery) -> bool:
        """Whether it is worth trying again."""
        try:
            async with self._receiver.shared() as receiver, asyncio.timeout(LONGEST_CALL):
                await receiver.renew_message_lock(message)
        except MessageAlreadySettled:
            return False
        except MessageLockLostError:
            self._telemetry.record(LockNotRenewed(delivery=delivery, cause="lock lost"))
            return False
        except Exception as error:  # noqa: BLE001  # the lock may well last until the next try
            self._telemetry.record(LockNotRenewed(delivery=delivery, cause=type(error).__name__))
        return True
