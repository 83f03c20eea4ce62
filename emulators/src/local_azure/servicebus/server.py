"""The embedded Service Bus: a namespace of queues behind a socket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self

from local_azure.clock import Clock
from local_azure.events import EventLog
from local_azure.faults import Faults
from local_azure.servicebus.amqp.connection import Connection
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.cbs import Authorization
from local_azure.servicebus.config import Config
from local_azure.servicebus.expiry import Expiry
from local_azure.servicebus.gate import Gate
from local_azure.servicebus.namespace import Namespace
from local_azure.servicebus.queue import DEAD_LETTER_SUFFIX, Queue
from local_azure.servicebus.tokens import SharedAccessKey

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from local_azure.servicebus.content import WireContent
    from local_azure.servicebus.properties import QueueProperties
    from local_azure.servicebus.queue_links import LocksOnConnectionLoss

KEY_NAME = "RootManageSharedAccessKey"
KEY = "SAS_KEY_VALUE"
"""The key of Microsoft's emulator, which is public."""


class LocalServiceBus:
    """A Service Bus namespace in this process, for as long as the context lasts.

    Args:
        queues: The queues by name, or a configuration.
        host: The address to listen on.
        port: The port to listen on; 0 takes a free one.
        clock: The time that locks, lifetimes and windows run by.
        faults: What goes wrong. Operations are ``authenticate``, ``attach``, ``send``,
            ``deliver``, ``complete``, ``abandon``, ``dead_letter``, ``release`` and ``renew``.
        events: Where to log what happens: ``sent``, ``duplicate_dropped``, ``delivered`` (with
            the delivery count), ``completed``, ``abandoned``, ``released``, ``dead_lettered``
            (with the reason), ``expired``, ``lock_renewed``, ``lock_expired`` and
            ``connection_dropped`` (with the operation at which a fault did it).
        locks_on_connection_loss: Whether messages stay locked until their time is up when the
            connection of their receiver breaks; the service's documentation says both.
        idle_timeout: Seconds after which a silent client is disconnected.
        key_name: The name of the shared access key.
        key: The shared access key.
    """

    def __init__(  # noqa: PLR0913 - each is a setting of its own
        self,
        queues: Mapping[str, QueueProperties] | Config,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        faults: Faults | None = None,
        events: EventLog | None = None,
        locks_on_connection_loss: LocksOnConnectionLoss = "keep",
        idle_timeout: float = 240.0,
        key_name: str = KEY_NAME,
        key: str = KEY,
    ) -> None:
        self.clock = clock or Clock()
        self.faults = faults or Faults()
        self.events = events if events is not None else EventLog()
        self._host, self._port = host, port
        self._key = SharedAccessKey(name=key_name, value=key)
        self._idle_timeout = idle_timeout
        self._locks_on_connection_loss = locks_on_connection_loss
        self._queues = self._make_queues(queues.queues if isinstance(queues, Config) else queues)

    def _make_queues(self, listed: Mapping[str, QueueProperties]) -> dict[str, Queue[WireContent]]:
        queues: dict[str, Queue[WireContent]] = {}
        for name, properties in listed.items():
            buried: Queue[WireContent] = Queue(name + DEAD_LETTER_SUFFIX, properties, self.events)
            queue = Queue(name, properties, self.events, buried)
            queues |= {each.name.lower(): each for each in (queue, buried)}
        return queues

    @property
    def connection_string(self) -> str:
        """How clients connect, in the form of Microsoft's emulator."""
        return (
            f"Endpoint=sb://{self._host}:{self._port};SharedAccessKeyName={self._key.name};"
            f"SharedAccessKey={self._key.value};UseDevelopmentEmulator=true;"
        )

    def queue(self, name: str) -> Queue[WireContent]:
        """A queue as it now is, to look into; a name ending in ``/$DeadLetterQueue`` works too.

        Raises:
            KeyError: There is none of that name.
        """
        queue = self._queues[name.lower()]
        queue.expire(self.clock.now())
        return queue

    async def __aenter__(self) -> Self:
        """Starts to listen.

        Raises:
            OSError: The port is taken.
        """
        loop = asyncio.get_running_loop()
        gate = Gate(self.clock, self.faults, self.events)
        queues = list(self._queues.values())
        expiry = Expiry(queues, self.clock)
        self._namespace = Namespace(
            queues,
            gate,
            Authorization(self._key, gate),
            expiry.due,
            self._locks_on_connection_loss,
        )
        self._server = await loop.create_server(
            lambda: Connection(self._namespace, self._idle_timeout), self._host, self._port
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self._expiring = asyncio.create_task(expiry.run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Says goodbye to all clients and stops to listen."""
        self._server.close()
        farewell = AmqpError("amqp:connection:forced", "The server is shutting down.")
        for connection in tuple(self._namespace.connections):
            connection.close(farewell)
        self._expiring.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._expiring
