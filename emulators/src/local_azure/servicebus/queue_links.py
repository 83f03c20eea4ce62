"""A queue on the wire: where clients send to and receive from."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from local_azure.faults import Operation
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.link import wire_error
from local_azure.servicebus.amqp.performatives import Accepted, Composite, Rejected
from local_azure.servicebus.content import WireContent, encode_delivery, parse_sent
from local_azure.servicebus.settlement import from_outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.amqp.link import Delivery, IncomingMessage, OutgoingLink
    from local_azure.servicebus.gate import Gate
    from local_azure.servicebus.message import Message
    from local_azure.servicebus.queue import Queue

LocksOnConnectionLoss = Literal["keep", "drop"]


class QueueTarget:
    """Takes what clients send to a queue."""

    def __init__(self, queue: Queue[WireContent], gate: Gate) -> None:
        self._queue = queue
        self._gate = gate

    def take(self, message: IncomingMessage) -> None:
        """Enqueues a message, or those of a batch; a fault sees a batch as its first one."""
        try:
            contents = parse_sent(message.encoded, message.message_format)
        except AmqpError as error:
            message.reject(error)
            return
        key = contents[0].message_id if contents else None
        self._gate.perform(
            Operation(name="send", entity=self._queue.name, key=key),
            message.link.session.connection,
            lambda: self._queue.send(contents, self._gate.clock.now()),
            lambda error: message.settle(_outcome(error, Accepted())),
        )


class QueueSource:
    """Hands a queue's messages out to the links that have credit, one each in turn."""

    def __init__(
        self,
        queue: Queue[WireContent],
        gate: Gate,
        on_due: Callable[[float], None],
        on_connection_loss: LocksOnConnectionLoss,
    ) -> None:
        self._queue = queue
        self._gate = gate
        self._on_due = on_due
        self._drops_locks = on_connection_loss == "drop"
        self._links: deque[OutgoingLink] = deque()
        self._busy: set[OutgoingLink] = set()
        self._is_scheduled = False
        queue.listener = self

    # ------------------------------------------------------------ the queue's listener

    def available(self) -> None:
        """Hands out on the loop's next turn, outside of the operation that this came from."""
        if not self._is_scheduled and self._links:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._hand_out)

    def due(self, moment: float) -> None:
        """Passes on when the queue must be looked at again."""
        self._on_due(moment)

    # ------------------------------------------------------------ the links' source

    def attached(self, link: OutgoingLink) -> None:
        """A receiver has come."""
        self._links.append(link)

    def credited(self, link: OutgoingLink) -> None:
        """A receiver has room."""
        self._hand_out()
        link.exhausted()

    def settle(self, delivery: Delivery, state: Composite | None) -> None:
        """Settles a message as its receiver asks."""
        token = UUID(bytes_le=delivery.tag)
        try:
            settlement = from_outcome(state)
        except AmqpError as error:
            delivery.settle(_outcome(error, Accepted()))
            return
        self._gate.perform(
            self._operation(settlement.operation, self._queue.locked(token)),
            delivery.link.session.connection,
            lambda: settlement.apply(self._queue, token, self._gate.clock.now()),
            lambda error: delivery.settle(_outcome(error, settlement.confirmation)),
        )

    def detached(self, link: OutgoingLink, unsettled: list[Delivery]) -> None:
        """A receiver has gone; its locks run on, unless its connection broke and drops them."""
        self._links.remove(link)
        self._busy.discard(link)
        if self._drops_locks and link.session.connection.broken:
            for delivery in unsettled:
                token = UUID(bytes_le=delivery.tag)
                self._queue.drop_lock(token, self._gate.clock.now())

    # ------------------------------------------------------------ handing out

    def _hand_out(self) -> None:
        self._is_scheduled = False
        while (link := self._ready_link()) and (head := self._queue.head(self._gate.clock.now())):
            self._deliver(link, head)

    def _ready_link(self) -> OutgoingLink | None:
        for _ in range(len(self._links)):
            self._links.rotate(-1)
            if self._links[-1].ready and self._links[-1] not in self._busy:
                return self._links[-1]
        return None

    def _deliver(self, link: OutgoingLink, head: Message[WireContent]) -> None:
        self._busy.add(link)
        self._gate.perform(
            self._operation("deliver", head),
            link.session.connection,
            lambda: self._queue.receive(self._gate.clock.now()) if link.ready else None,
            lambda message: self._send(link, message),
        )

    def _send(self, link: OutgoingLink, message: Message[WireContent] | AmqpError | None) -> None:
        self._busy.discard(link)
        if isinstance(message, AmqpError):
            link.refuse(message)
        elif message is not None and (lock := message.lock) is not None:
            encoded = encode_delivery(message, lock, self._gate.clock.on_wall)
            link.send(lock.token.bytes_le, encoded, settled=False)

    def _operation(self, name: str, message: Message[WireContent] | None) -> Operation:
        key = None if message is None else message.message_id
        return Operation(name=name, entity=self._queue.name, key=key)


def _outcome(error: AmqpError | None, confirmation: Composite) -> Composite:
    return confirmation if error is None else Rejected(error=wire_error(error))
