"""One queue's receiver: opened when needed, opened anew after trouble, used in turns.

The SDK does not promise that a receiver bears several coroutines at a time. Read and measured
on 7.15: each call reads the one socket itself, under one lock with all that write, so whoever
settles while a receive call waits for messages has to wait out its read. Settlements and
renewals only wait for answers that come at once; over a round trip of 2 ms they are three
times as fast together as one by one. So receiving has its turn alone, and they share theirs.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from idempotent_consumer.servicebus.client import POLL, know_platform
from idempotent_consumer.servicebus.diagnosis import QueueAddress
from idempotent_consumer.servicebus.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus import ServiceBusReceivedMessage
    from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver


class QueueReceiver:
    """Receives from one queue, under lock and without prefetching.

    A message may be settled after the receiver that took it has broken: the lock belongs to
    the message, and the SDK then names its token to the queue's management.

    Args:
        client: Closed by whoever made it.
        client_id: Of the identity in use, where one is configured; for advice.

    Attributes:
        round_trip: Seconds that the last settlement or renewal took.
    """

    def __init__(
        self, client: ServiceBusClient, queue: str, *, client_id: str | None = None
    ) -> None:
        self.address = QueueAddress.of(client, queue, client_id)
        self.round_trip = 0.0
        self._client = client
        self._turns = Turns()
        self._opening = asyncio.Lock()
        self._receiver: ServiceBusReceiver | None = None

    async def receive(self, count: int, wait: float) -> list[ServiceBusReceivedMessage]:
        """At most so many messages; none if none came in time.

        Returns early once all have come. Nothing that was cancelled is lost: what the SDK
        holds by then is released when the receiver closes.

        Args:
            wait: Seconds. Whoever settles meanwhile waits as well.

        Raises:
            Exception: What the SDK met; `diagnose` reads it.
        """
        async with self._turns.alone():
            receiver = await self._open()
            return await receiver.receive_messages(count, wait)

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[ServiceBusReceiver]:
        """The SDK's receiver, to settle messages or to renew their locks.

        Raises:
            Exception: It cannot be opened.
        """
        async with self._turns.shared():
            receiver = await self._open()
            began = time.monotonic()
            yield receiver
            self.round_trip = time.monotonic() - began

    async def close(self) -> None:
        """Closes the link; the next call opens it anew."""
        async with self._turns.alone():
            receiver, self._receiver = self._receiver, None
            if receiver is not None:
                with suppress(Exception):  # a broken link cannot even be closed
                    await receiver.close()

    async def _open(self) -> ServiceBusReceiver:
        async with self._opening:
            if self._receiver is None:
                await know_platform()
                receiver = self._client.get_queue_receiver(
                    self.address.queue, prefetch_count=0, socket_timeout=POLL
                )
                self._receiver = await receiver.__aenter__()
            return self._receiver
