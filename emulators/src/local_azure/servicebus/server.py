"""The embedded Service Bus: a namespace of queues and topics behind a socket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self

from local_azure.addresses import address_of
from local_azure.clock import Clock
from local_azure.events import EventLog
from local_azure.faults import Faults
from local_azure.servicebus.amqp.connection import Connection, IdleRules
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.entities import Entities
from local_azure.servicebus.config import Config
from local_azure.servicebus.expiry import Expiry
from local_azure.servicebus.namespace import Namespace
from local_azure.servicebus.nodes.cbs import Authorization
from local_azure.servicebus.nodes.gate import Gate
from local_azure.servicebus.nodes.tokens import SharedAccessKey
from local_azure.servicebus.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from local_azure.servicebus.broker.properties import QueueProperties, TopicProperties
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.queues import LocksOnConnectionLoss

KEY_NAME = "RootManageSharedAccessKey"
KEY = "SAS_KEY_VALUE"
"""The key of Microsoft's emulator, which is public."""


class LocalServiceBus:
    """A Service Bus namespace in this process, for as long as the context lasts.

    Args:
        queues: The queues by name, or a configuration.
        topics: The topics by name, beside those of a configuration.
        host: The address to listen on.
        port: The port to listen on; 0 takes a free one.
        clock: The time that locks, lifetimes and windows run by.
        faults: What goes wrong. Operations are ``authenticate``, ``attach``, ``send``,
            ``deliver``, ``complete``, ``abandon``, ``defer``, ``dead_letter``, ``release``,
            ``renew``, and those of the management node by their names, ``schedule-message`` and
            the like.
        events: Where to log what happens: ``sent``, ``scheduled``, ``activated``, ``cancelled``,
            ``duplicate_dropped``, ``delivered`` (with the delivery count), ``completed``,
            ``abandoned``, ``released``, ``deferred``, ``dead_lettered`` (with the reason),
            ``expired``, ``lock_renewed``, ``lock_expired``; of a session, which is the key,
            ``session_accepted``, ``session_renewed``, ``session_state_set``, ``session_closed``
            and ``session_expired``; and ``connection_dropped`` (with the operation at which a
            fault did it).
        locks_on_connection_loss: Whether messages and sessions stay locked until their time is
            up when the connection of their receiver breaks; the service's documentation says
            both.
        idle: When clients that are silent, and links that are not used, are sent away.
        key_name: The name of the shared access key.
        key: The shared access key.

    Raises:
        ConfigError: There cannot be such entities.
    """

    def __init__(  # noqa: PLR0913 - each is a setting of its own
        self,
        queues: Mapping[str, QueueProperties] | Config,
        *,
        topics: Mapping[str, TopicProperties] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        faults: Faults | None = None,
        events: EventLog | None = None,
        locks_on_connection_loss: LocksOnConnectionLoss = "keep",
        idle: IdleRules | None = None,
        key_name: str = KEY_NAME,
        key: str = KEY,
    ) -> None:
        self.clock = clock or Clock()
        self.faults = faults or Faults()
        self.faults.aim_at(TARGETS)
        self.events = events if events is not None else EventLog()
        self._host, self._port = host, port
        self.key = SharedAccessKey(name=key_name, value=key)
        self._idle = idle or IdleRules()
        self._locks_on_connection_loss = locks_on_connection_loss
        config = _config(queues, topics or {})
        self._loop: asyncio.AbstractEventLoop | None = None
        self.entities: Entities[WireContent] = Entities(self.events)
        for name, queue in config.queues.items():
            self.entities.create_queue(name, queue)
        for name, topic in config.topics.items():
            self.entities.create_topic(name, topic)

    @property
    def connection_string(self) -> str:
        """How clients connect, in the form of Microsoft's emulator."""
        return (
            f"Endpoint=sb://{address_of(self._host, self._port)};"
            f"SharedAccessKeyName={self.key.name};"
            f"SharedAccessKey={self.key.value};UseDevelopmentEmulator=true;"
        )

    def queue(self, name: str) -> Queue[WireContent]:
        """A queue as it now is, to look into, from any thread.

        Args:
            name: Its name; one ending in ``/$DeadLetterQueue`` works too, and
                ``topic/Subscriptions/name``.

        Raises:
            KeyError: There is none of that name.
        """
        queue = self.entities.source(name)
        if queue is None:
            raise KeyError(name)
        if self._loop is None or self._loop is _running_loop():
            queue.expire(self.clock.now())
        else:
            asyncio.run_coroutine_threadsafe(self._expire(queue), self._loop).result()
        return queue

    async def _expire(self, queue: Queue[WireContent]) -> None:
        queue.expire(self.clock.now())

    async def __aenter__(self) -> Self:
        """Starts to listen.

        Raises:
            OSError: The port is taken.
        """
        self._loop = loop = asyncio.get_running_loop()
        gate = Gate(self.clock, self.faults, self.events)
        expiry = Expiry(self.entities, self.clock)
        self.entities.on_due = expiry.due
        authorization = Authorization(self.key, gate)
        self._namespace = Namespace(
            self.entities, gate, authorization, self._locks_on_connection_loss
        )
        self._server = await loop.create_server(
            lambda: Connection(self._namespace, self._idle), self._host, self._port
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
        self._loop = None


def _config(
    queues: Mapping[str, QueueProperties] | Config, topics: Mapping[str, TopicProperties]
) -> Config:
    if isinstance(queues, Config):
        return Config(queues=queues.queues, topics={**queues.topics, **topics})
    return Config(queues=queues, topics=topics)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
