"""Entities on the wire: where clients send to and receive from."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from local_azure.faults import Lapse, Operation, Overtake
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.performatives import Accepted, Composite
from local_azure.servicebus.nodes.content import WireContent, encode_message, parse_sent
from local_azure.servicebus.nodes.gate import DELIVER
from local_azure.servicebus.nodes.settlement import from_outcome
from local_azure.servicebus.nodes.twists import forgetting, lapsing

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.amqp.link import Delivery, IncomingMessage, OutgoingLink
    from local_azure.servicebus.broker.intake import Intake
    from local_azure.servicebus.broker.message import Message
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.broker.session_queue import SessionLock
    from local_azure.servicebus.nodes.gate import Gate, Twists

LocksOnConnectionLoss = Literal["keep", "drop"]


class EntityTarget:
    """Takes what clients send to a queue or topic."""

    def __init__(self, entity: Intake[WireContent], gate: Gate) -> None:
        self._entity = entity
        self._gate = gate
        self._closed: AmqpError | None = None

    def close(self, reason: AmqpError) -> None:
        """Takes nothing any more."""
        self._closed = reason

    def take(self, message: IncomingMessage) -> None:
        """Enqueues a message, or those of a batch; a fault that matches one befalls the batch."""
        if self._closed is not None:
            message.reject(self._closed)
            return
        try:
            contents = parse_sent(message.encoded, message.message_format, self._gate.clock)
        except AmqpError as error:
            message.reject(error)
            return
        key, *others = [content.message_id for content in contents] or [None]
        self._gate.perform(
            Operation(name="send", entity=self._entity.name, key=key, others=tuple(others)),
            message.link.session.connection,
            lambda: self._entity.send(contents, self._gate.clock.now()),
            lambda result: _answer(message, result, Accepted()),
            lambda: forgetting(self._entity, contents),
        )


@dataclass(slots=True, eq=False, kw_only=True)
class Receiver:
    """A client that receives over a link.

    Attributes:
        session: The session that it has locked, on a queue that requires sessions.
        missed: Messages that wait until it has gone, since a fault holds their delivery.
        busy: A delivery to it is on its way.
    """

    link: OutgoingLink
    session: SessionLock | None = None
    missed: list[Message[WireContent]] = field(default_factory=list)
    busy: bool = False

    @property
    def line(self) -> str | None:
        """Whose messages it gets."""
        return None if self.session is None else self.session.session_id


class QueueSource:
    """Hands a queue's messages out to the links that have credit, one each in turn."""

    def __init__(
        self, queue: Queue[WireContent], gate: Gate, on_connection_loss: LocksOnConnectionLoss
    ) -> None:
        self._queue = queue
        self._gate = gate
        self._drops_locks = on_connection_loss == "drop"
        self._receivers: dict[OutgoingLink, Receiver] = {}
        self._turns: deque[Receiver] = deque()
        self._is_scheduled = False
        self._is_handing_out = False
        queue.listener = self

    def close(self, reason: AmqpError) -> None:
        """Sends all receivers away."""
        for link in tuple(self._receivers):
            link.refuse(reason)

    # ------------------------------------------------------------ the queue's listener

    def available(self) -> None:
        """Hands out on the loop's next turn, outside of the operation that this came from."""
        if not self._is_scheduled and self._is_wanted():
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._hand_out)

    def session_lost(self) -> None:
        """There are no sessions here."""

    def _is_wanted(self) -> bool:
        return bool(self._receivers)

    # ------------------------------------------------------------ the links' source

    def attached(self, link: OutgoingLink) -> None:
        """A receiver has come."""
        self._add(Receiver(link=link))

    def _add(self, receiver: Receiver) -> None:
        self._receivers[receiver.link] = receiver
        self._turns.append(receiver)

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
            delivery.reject(error)
            return
        message = self._queue.locked(token)
        self._gate.perform(
            self._operation(settlement.operation, message),
            delivery.link.session.connection,
            lambda: settlement.apply(self._queue, token, self._gate.clock.now()),
            lambda result: _answer(delivery, result, settlement.confirmation),
            lambda: lapsing(self._queue, [token], self._gate.clock),
        )

    def detached(self, link: OutgoingLink) -> None:
        """A receiver has gone; its locks run on."""
        receiver = self._receivers.pop(link)
        self._turns.remove(receiver)
        self._gone(receiver)
        for message in receiver.missed:
            self._queue.put_back(message)

    def _gone(self, receiver: Receiver) -> None:
        """Nothing to do where there are no sessions."""

    def disconnected(self, connection: Connection) -> None:
        """A connection has ended; if it broke, its locks may be dropped."""
        if self._drops_locks and connection.broken:
            self._queue.drop_locks_of(connection, self._gate.clock.now())

    # ------------------------------------------------------------ handing out

    def _hand_out(self) -> None:
        self._is_scheduled = False
        self._is_handing_out = True
        try:
            while (pair := self._next_pair()) is not None:
                self._deliver(*pair)
        finally:
            self._is_handing_out = False

    def _next_pair(self) -> tuple[Receiver, Message[WireContent]] | None:
        """The next receiver that can take a message, and the message."""
        for _ in range(len(self._turns)):
            self._turns.rotate(-1)
            receiver = self._turns[-1]
            if receiver.link.ready and not receiver.busy:
                head = self._queue.head(self._gate.clock.now(), receiver.line)
                if head is not None:
                    return receiver, head
        return None

    def _deliver(self, receiver: Receiver, head: Message[WireContent]) -> None:
        receiver.busy = True
        self._gate.perform(
            self._operation(DELIVER, head),
            receiver.link.session.connection,
            lambda: self._receive(receiver),
            lambda message: self._send(receiver, message),
            lambda: self._twists(receiver, head),
            lambda: self._miss(receiver, head),
        )

    def _twists(self, receiver: Receiver, head: Message[WireContent]) -> Twists:
        now = self._gate.clock.now()
        twists: dict[type[Lapse | Overtake], Callable[[], None]] = {}
        if not receiver.link.pre_settled:
            twists[Lapse] = lambda: self._lapse(head)
        if self._queue.can_be_overtaken(now, receiver.line):
            twists[Overtake] = lambda: self._queue.overtake(now, receiver.line)
        return twists

    def _lapse(self, message: Message[WireContent]) -> None:
        if message.lock is not None:
            self._queue.drop_lock(message.lock.token, self._gate.clock.now())

    def _miss(self, receiver: Receiver, head: Message[WireContent]) -> None:
        """A delivery is lost: if the message was not locked, it waits for its receiver to go."""
        receiver.busy = False
        now = self._gate.clock.now()
        if self._queue.head(now, receiver.line) is head:
            self._queue.set_aside(now, receiver.line)
            receiver.missed.append(head)

    def _receive(self, receiver: Receiver) -> Message[WireContent] | None:
        now = self._gate.clock.now()
        if not receiver.link.ready:
            return None
        if receiver.link.pre_settled:
            return self._queue.receive_and_delete(now, receiver.line)
        return self._queue.receive(now, receiver.line, receiver.link.session.connection)

    def _send(self, receiver: Receiver, message: Message[WireContent] | AmqpError | None) -> None:
        receiver.busy = False
        if isinstance(message, AmqpError):
            receiver.link.refuse(message)
        elif message is not None:
            tag = b"" if message.lock is None else message.lock.token.bytes_le
            encoded = encode_message(message, self._gate.clock)
            receiver.link.send(tag, encoded, settled=message.lock is None)
        if not self._is_handing_out:  # the delivery was late
            self.available()

    def _operation(self, name: str, message: Message[WireContent] | None) -> Operation:
        key = None if message is None else message.message_id
        return Operation(name=name, entity=self._queue.name, key=key)


def _answer(asked: IncomingMessage | Delivery, result: object, confirmation: Composite) -> None:
    if isinstance(result, AmqpError):
        asked.reject(result)
    else:
        asked.settle(confirmation)
