"""The namespace: leads each link to the node that its address names, or refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from local_azure.faults import Operation
from local_azure.servicebus.address import Address
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.link import (
    RECEIVER,
    SENDER,
    IncomingLink,
    OutgoingLink,
    address_text,
)
from local_azure.servicebus.exchange import Exchange, Responder
from local_azure.servicebus.management import Management
from local_azure.servicebus.queue_links import LocksOnConnectionLoss, QueueSource, QueueTarget
from local_azure.servicebus.tokens import unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.amqp.link import Source, Target
    from local_azure.servicebus.amqp.performatives import Attach, SaslInit
    from local_azure.servicebus.amqp.session import Session
    from local_azure.servicebus.cbs import Authorization
    from local_azure.servicebus.content import WireContent
    from local_azure.servicebus.gate import Gate
    from local_azure.servicebus.queue import Queue

MAX_MESSAGE_SIZE = 256 * 1024
_CBS = "$cbs"
_PRE_SETTLED = 1


class _Node:
    """All that is at the address of a queue."""

    def __init__(self, queue: Queue[WireContent], gate: Gate, source: QueueSource) -> None:
        self.queue = queue
        self.target = QueueTarget(queue, gate)
        self.source = source
        self.management = Management(queue, gate)


class Namespace:
    """The nodes of a namespace, as a container of AMQP links."""

    def __init__(
        self,
        queues: Iterable[Queue[WireContent]],
        gate: Gate,
        authorization: Authorization,
        on_due: Callable[[float], None],
        on_connection_loss: LocksOnConnectionLoss,
    ) -> None:
        self.name = "local-azure"
        self.connections: set[Connection] = set()
        self._gate = gate
        self._authorization = authorization
        self._exchanges: WeakKeyDictionary[Session, dict[str, Exchange]] = WeakKeyDictionary()
        self._nodes: dict[str, _Node] = {}
        for queue in queues:
            source = QueueSource(queue, gate, on_due, on_connection_loss)
            self._nodes[queue.name.lower()] = _Node(queue, gate, source)

    def opened(self, connection: Connection) -> None:
        """A connection has come."""
        self.connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """A connection has gone."""
        self.connections.discard(connection)

    def authenticates(self, connection: Connection, init: SaslInit) -> bool:
        """SASL PLAIN must name the key; what comes in otherwise has to put a token."""
        if init.mechanism != "PLAIN":
            return True
        return self._authorization.plain(connection, init.initial_response or b"")

    # ------------------------------------------------------------ links

    def attach(self, session: Session, attach: Attach) -> None:
        """Opens a link, if there is a node for it and the client may."""
        text = address_text(attach.source if attach.role == RECEIVER else attach.target)
        if text is None:
            session.refuse(attach, AmqpError("amqp:invalid-field", "An address is needed."))
        elif text == _CBS:
            exchange = self._exchange(session, _CBS, self._authorization)
            session.accept(_link(session, attach, exchange, exchange), attach)
        else:
            self._attach_to_queue(session, attach, Address.parse(text))

    def _attach_to_queue(self, session: Session, attach: Attach, address: Address) -> None:
        def answer(result: IncomingLink | OutgoingLink | AmqpError) -> None:
            if isinstance(result, AmqpError):
                session.refuse(attach, result)
            else:
                session.accept(result, attach)

        self._gate.perform(
            Operation(name="attach", entity=address.path),
            session.connection,
            lambda: self._open(session, attach, address),
            answer,
        )

    def _open(
        self, session: Session, attach: Attach, address: Address
    ) -> IncomingLink | OutgoingLink:
        node = self._node(session.connection, address)
        if address.management:
            exchange = self._exchange(session, address.key, node.management)
            return _link(session, attach, exchange, exchange)
        _check(node, attach)
        return _link(session, attach, node.source, node.target)

    def _node(self, connection: Connection, address: Address) -> _Node:
        if not self._authorization.allows(connection, address):
            raise unauthorized(f"Unauthorized access to '{address.path}': no token was put for it.")
        node = self._nodes.get(address.key)
        if node is None:
            raise AmqpError(
                "amqp:not-found",
                f"The messaging entity '{address.path}' could not be found. To know more visit "
                "https://aka.ms/sbResourceMgrExceptions.",
            )
        return node

    def _exchange(self, session: Session, path: str, responder: Responder) -> Exchange:
        exchanges = self._exchanges.setdefault(session, {})
        return exchanges.setdefault(path, Exchange(responder))


def _check(node: _Node, attach: Attach) -> None:
    """Refuses what a queue does not do."""
    if attach.role == RECEIVER and attach.snd_settle_mode == _PRE_SETTLED:
        raise AmqpError("amqp:not-implemented", "ReceiveAndDelete is not emulated yet.")
    if attach.role == SENDER and node.queue.dead_letters is None:
        raise AmqpError("amqp:not-allowed", "Nothing can be sent to a dead-letter queue.")


def _link(
    session: Session, attach: Attach, source: Source, target: Target
) -> IncomingLink | OutgoingLink:
    if attach.role == RECEIVER:
        return OutgoingLink(session, attach, source)
    return IncomingLink(session, attach, target, MAX_MESSAGE_SIZE)
