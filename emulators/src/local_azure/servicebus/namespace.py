"""The namespace: leads each link to the node that its address names, or refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from local_azure.faults import Operation
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.link import (
    RECEIVER,
    IncomingLink,
    OutgoingLink,
    wanted_address,
)
from local_azure.servicebus.broker.address import Address
from local_azure.servicebus.broker.entities import not_found
from local_azure.servicebus.broker.limits import MAX_MESSAGE_SIZE, check_status
from local_azure.servicebus.broker.queue import Queue
from local_azure.servicebus.broker.session_queue import SessionQueue
from local_azure.servicebus.nodes.cbs import CBS
from local_azure.servicebus.nodes.exchange import Exchange, Responder
from local_azure.servicebus.nodes.management.node import Management
from local_azure.servicebus.nodes.queues import EntityTarget, LocksOnConnectionLoss, QueueSource
from local_azure.servicebus.nodes.sessions import SessionFilter, SessionSource
from local_azure.servicebus.nodes.tokens import unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.amqp.performatives import Attach, SaslInit
    from local_azure.servicebus.amqp.session import Session
    from local_azure.servicebus.broker.entities import Entities
    from local_azure.servicebus.broker.intake import Intake
    from local_azure.servicebus.nodes.cbs import Authorization
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.gate import Gate

    _Entity = Intake[WireContent]

_COORDINATOR = 0x30


class _Node:
    """All that is at the address of an entity."""

    def __init__(
        self,
        entity: _Entity,
        entities: Entities[WireContent],
        gate: Gate,
        on_connection_loss: LocksOnConnectionLoss,
    ) -> None:
        self.entity = entity
        self.target = EntityTarget(entity, gate)
        self.source: QueueSource | None = None
        match entity:
            case SessionQueue():
                self.source = SessionSource(entity, gate, on_connection_loss)
            case Queue():
                self.source = QueueSource(entity, gate, on_connection_loss)
            case _:
                pass  # nothing can be received from a topic
        self.management = Management(entity, self.source, entities, gate)

    def close(self) -> None:
        """Ends all links, since the entity was deleted."""
        gone = not_found(self.entity.name)
        self.target.close(gone)
        if self.source is not None:
            self.source.close(gone)


class Namespace:
    """The nodes of a namespace, as a container of AMQP links."""

    def __init__(
        self,
        entities: Entities[WireContent],
        gate: Gate,
        authorization: Authorization,
        on_connection_loss: LocksOnConnectionLoss,
    ) -> None:
        self.name = "local-azure"
        self.connections: set[Connection] = set()
        self._entities = entities
        self._gate = gate
        self._authorization = authorization
        self._on_connection_loss = on_connection_loss
        self._exchanges: WeakKeyDictionary[Session, dict[str, Exchange]] = WeakKeyDictionary()
        self._nodes: dict[_Entity, _Node] = {}
        entities.on_deleted = self._deleted

    def opened(self, connection: Connection) -> None:
        """A connection has come."""
        self.connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """A connection has gone."""
        self.connections.discard(connection)
        for node in self._nodes.values():
            if node.source is not None:
                node.source.disconnected(connection)

    def authenticates(self, connection: Connection, init: SaslInit) -> bool:
        """SASL PLAIN must name the key; what comes in otherwise has to put a token."""
        if init.mechanism != "PLAIN":
            return True
        return self._authorization.plain(connection, init.initial_response or b"")

    # ------------------------------------------------------------ links

    def attach(self, session: Session, attach: Attach) -> None:
        """Opens a link, if there is a node for it and the client may."""
        try:
            self._attach(session, attach)
        except AmqpError as error:
            session.refuse(attach, error)

    def _attach(self, session: Session, attach: Attach) -> None:
        text = wanted_address(attach)
        if text is None:
            raise _no_address(attach)
        if text == CBS:
            exchange = self._exchange(session, CBS, self._authorization)
            session.accept(_exchange_link(session, attach, exchange, may_idle=True), attach)
        else:
            self._attach_to_entity(session, attach, Address.parse(text))

    def _attach_to_entity(self, session: Session, attach: Attach, address: Address) -> None:
        def answer(result: Callable[[], None] | AmqpError) -> None:
            if isinstance(result, AmqpError):
                session.refuse(attach, result)
            else:
                result()

        self._gate.perform(
            Operation(name="attach", entity=address.path),
            session.connection,
            lambda: self._opening(session, attach, address),
            answer,
        )

    def _opening(self, session: Session, attach: Attach, address: Address) -> Callable[[], None]:
        """How to open a link; raises `AmqpError` where it is refused."""
        node = self._node(session.connection, address)
        if address.management:
            exchange = self._exchange(session, address.key, node.management)
            return lambda: session.accept(_exchange_link(session, attach, exchange), attach)
        if attach.role == RECEIVER:
            return self._opening_to_receive(session, attach, node)
        if self._entities.target(node.entity.name) is None:
            raise AmqpError("amqp:not-allowed", f"Nothing can be sent to '{node.entity.name}'.")
        check_status(node.entity.name, node.entity.properties.status, "SendDisabled")
        link = IncomingLink(session, attach, node.target, MAX_MESSAGE_SIZE)
        return lambda: session.accept(link, attach)

    def _opening_to_receive(
        self, session: Session, attach: Attach, node: _Node
    ) -> Callable[[], None]:
        queue, source, wanted = node.entity, node.source, SessionFilter.of(attach)
        if source is None or not isinstance(queue, Queue) or queue.outlet is not None:
            raise AmqpError("amqp:not-allowed", f"Nothing can be received from '{queue.name}'.")
        check_status(queue.name, queue.properties.status, "ReceiveDisabled")
        link = OutgoingLink(session, attach, source)
        match source, wanted:
            case SessionSource(), SessionFilter():
                return lambda: source.open(link, attach, wanted)
            case SessionSource(), None:
                raise AmqpError(
                    "amqp:not-allowed",
                    "It is not possible for an entity that requires sessions to create a "
                    "non-sessionful message receiver.",
                )
            case _, SessionFilter():
                raise AmqpError(
                    "amqp:not-allowed",
                    "A sessionful message receiver cannot be created on an entity that does not "
                    "require sessions.",
                )
            case _:
                return lambda: session.accept(link, attach)

    def _node(self, connection: Connection, address: Address) -> _Node:
        if not self._authorization.allows(connection, address):
            text = f"Unauthorized access to '{address.path}': no token in force was put for it."
            raise unauthorized(text)
        entity = self._entities.source(address.key) or self._entities.target(address.key)
        if entity is None:
            raise not_found(address.path)
        if entity not in self._nodes:
            self._nodes[entity] = _Node(
                entity, self._entities, self._gate, self._on_connection_loss
            )
        return self._nodes[entity]

    def _deleted(self, entity: _Entity) -> None:
        node = self._nodes.pop(entity, None)
        if node is not None:
            node.close()

    def _exchange(self, session: Session, path: str, responder: Responder) -> Exchange:
        exchanges = self._exchanges.setdefault(session, {})
        return exchanges.setdefault(path, Exchange(responder))


def _no_address(attach: Attach) -> AmqpError:
    if attach.target is not None and attach.target.descriptor == _COORDINATOR:
        return AmqpError("amqp:not-implemented", "Transactions are not emulated.")
    return AmqpError("amqp:invalid-field", "An address is needed.")


def _exchange_link(
    session: Session, attach: Attach, exchange: Exchange, *, may_idle: bool = False
) -> IncomingLink | OutgoingLink:
    if attach.role == RECEIVER:
        return OutgoingLink(session, attach, exchange, may_idle=may_idle)
    return IncomingLink(session, attach, exchange, MAX_MESSAGE_SIZE, may_idle=may_idle)
