"""Tells Service Bus what becomes of a delivery."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_never

from azure.servicebus.exceptions import MessageAlreadySettled, MessageLockLostError

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter, Hold
from idempotent_consumer.engine.settled import Settled

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage
    from azure.servicebus.aio import ServiceBusReceiver

    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.servicebus.receiver import QueueReceiver

LIMIT = 20.0
"""Seconds; enough to open a broken connection anew."""


class ReceiverSettler:
    """Settles one message: a `Settler`."""

    def __init__(self, receiver: QueueReceiver, message: ServiceBusReceivedMessage) -> None:
        self._receiver = receiver
        self._message = message

    async def settle(self, settlement: Settlement) -> Settled:
        if isinstance(settlement, Hold):
            return Settled.CONFIRMED
        try:
            async with asyncio.timeout(LIMIT), self._receiver.shared() as receiver:
                await self._tell(receiver, settlement)
        except (MessageLockLostError, MessageAlreadySettled):
            return Settled.LOCK_LOST
        except Exception:  # noqa: BLE001  # whatever it was, nobody knows what the broker did
            return Settled.UNKNOWN
        return Settled.CONFIRMED

    async def _tell(
        self, receiver: ServiceBusReceiver, settlement: Complete | DeadLetter | Abandon
    ) -> None:
        match settlement:
            case Complete():
                await receiver.complete_message(self._message)
            case Abandon():
                await receiver.abandon_message(self._message)
            case DeadLetter(reason, description):
                await receiver.dead_letter_message(
                    self._message, reason=reason.value, error_description=description
                )
            case _:
                assert_never(settlement)
