"""The host's listener on the queue: one message, one invocation, so many at a time."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from azure.servicebus import ServiceBusReceiveMode
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import MessageLockLostError, ServiceBusError

from tests.hosts.functions.host import FunctionsHost, Refusal, functions_host
from tests.hosts.functions.message import HostMessage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from azure.servicebus import ServiceBusReceivedMessage
    from azure.servicebus.aio import ServiceBusReceiver

    from tests.acceptance.shop import Shop

CONCURRENCY = 16
"""As in host.json."""


@dataclass(frozen=True)
class ReceiverActions:
    """Settles a message by the receiver that took it; errors read as .NET's do."""

    receiver: ServiceBusReceiver
    message: ServiceBusReceivedMessage

    async def complete(self) -> None:
        await _refusing(self.receiver.complete_message(self.message))

    async def abandon(self) -> None:
        await _refusing(self.receiver.abandon_message(self.message))

    async def dead_letter(self, reason: str, description: str) -> None:
        await _refusing(
            self.receiver.dead_letter_message(
                self.message, reason=reason, error_description=description
            )
        )


async def _refusing(settling: Coroutine[None, None, None]) -> None:
    try:
        await settling
    except ServiceBusError as error:
        name = "MessageLockLost" if isinstance(error, MessageLockLostError) else "GeneralError"
        text = f"Azure.Messaging.ServiceBus.ServiceBusException: no ({name})."
        raise Refusal(grpc.StatusCode.UNKNOWN, text) from None


@dataclass
class Listener:
    """Takes messages from the queue ``orders`` and has the host run its function on them.

    Attributes:
        running: Invocations under way.
        peak: The most there were at a time.
        failures: What the host's telemetry would show in red.
    """

    host: FunctionsHost
    client: ServiceBusClient
    failures: list[str]
    running: int = 0
    peak: int = 0

    async def listen(self) -> None:
        async with asyncio.TaskGroup() as slots:
            for _ in range(CONCURRENCY):
                slots.create_task(self._slot())

    async def _slot(self) -> None:
        async with self.client.get_queue_receiver(
            "orders", receive_mode=ServiceBusReceiveMode.PEEK_LOCK, socket_timeout=0.02
        ) as receiver:
            while True:
                for message in await receiver.receive_messages(max_wait_time=0.5):
                    await self._dispatch(receiver, message)

    async def _dispatch(
        self, receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage
    ) -> None:
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            invoked = await self.host.dispatch(
                _host_message(message), ReceiverActions(receiver, message)
            )
        except Refusal as refusal:  # of abandoning; the lock lapses
            self.failures.append(refusal.details)
        else:
            self.failures += [] if invoked.succeeded else [invoked.error]
        finally:
            self.running -= 1


def _host_message(message: ServiceBusReceivedMessage) -> HostMessage:
    assert message.sequence_number
    assert message.enqueued_time_utc
    return HostMessage(
        body=b"".join(message.body),
        message_id=message.message_id,
        lock_token=str(message.lock_token),
        delivery_count=(message.delivery_count or 0) + 1,
        sequence_number=message.sequence_number,
        enqueued_time=message.enqueued_time_utc,
        subject=message.subject,
        content_type=message.content_type,
        correlation_id=message.correlation_id,
        properties={
            (name.decode() if isinstance(name, bytes) else name): value
            for name, value in (message.application_properties or {}).items()
        },
    )


@asynccontextmanager
async def functions_at_work(shop: Shop) -> AsyncIterator[Listener]:
    """The function app, at work on the shop's queue within the context."""
    async with (
        functions_host(shop.settings) as host,
        ServiceBusClient.from_connection_string(shop.bus.connection_string) as client,
    ):
        listener = Listener(host, client, failures=[])
        listening = asyncio.create_task(listener.listen())
        try:
            yield listener
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
