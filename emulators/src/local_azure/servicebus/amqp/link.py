"""Links: one-way streams of messages with credit (AMQP 1.0, part 2.6)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.held import too_much_held
from local_azure.servicebus.amqp.performatives import (
    Attach,
    Composite,
    Detach,
    Disposition,
    Error,
    Flow,
    Rejected,
    Transfer,
)
from local_azure.servicebus.amqp.types import Described, Symbol, UInt, ULong

if TYPE_CHECKING:
    from local_azure.servicebus.amqp.session import Session

SENDER, RECEIVER = False, True
PRE_SETTLED = 1
SERIAL = 0xFFFFFFFF
_CREDIT = 1000
_LINK_ERRORS = "amqp:link:"
_TOO_LARGE = "amqp:link:message-size-exceeded"


def address_text(terminus: Described | None) -> str | None:
    """The address in a source or target."""
    fields = None if terminus is None else terminus.value
    text = fields[0] if isinstance(fields, list) and fields else None
    return text if isinstance(text, str) else None


def wanted_address(attach: Attach) -> str | None:
    """The address of the node that a client attaches to."""
    return address_text(attach.source if attach.role == RECEIVER else attach.target)


def ends_link(error: AmqpError) -> bool:
    """Whether an error is one of the link, not of what was done over it."""
    return error.condition.startswith(_LINK_ERRORS) and error.condition != _TOO_LARGE


def wire_error(error: AmqpError) -> Error:
    """An error as it is sent: always three fields, clients index the third unasked."""
    return Error(condition=Symbol(error.condition), description=error.description, info={})


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A whole message that the client sent, still to be settled."""

    link: IncomingLink
    delivery_id: int
    message_format: int
    settled: bool
    encoded: bytes

    def settle(self, outcome: Composite) -> None:
        """Tells the client what became of it, unless it did not ask."""
        if not self.settled:
            self.link.settle(self.delivery_id, outcome)

    def reject(self, error: AmqpError) -> None:
        """Tells the client why it was not taken."""
        if ends_link(error):
            self.link.refuse(error)
        else:
            self.settle(Rejected(error=wire_error(error)))


class Target(Protocol):
    """Where messages that the client sends end up."""

    def take(self, message: IncomingMessage) -> None:
        """Takes a message and settles it, now or later."""


class Source(Protocol):
    """Where messages that the client receives come from."""

    def attached(self, link: OutgoingLink) -> None:
        """A client listens from now on."""

    def credited(self, link: OutgoingLink) -> None:
        """A client can take (more) messages."""

    def settle(self, delivery: Delivery, state: Composite | None) -> None:
        """A client says what is to become of a delivery."""

    def detached(self, link: OutgoingLink) -> None:
        """A client has gone; what it held is left to decide on."""


class Link(ABC):
    """What both directions share.

    Attributes:
        address: What it leads to, as the client wrote it.
        may_idle: It is not ended for being silent.
        touched: When something last came or went over it, by the loop's time.
    """

    def __init__(self, session: Session, attach: Attach, *, may_idle: bool = False) -> None:
        self.session = session
        self.name = attach.name
        self.address = wanted_address(attach) or ""
        self.handle = attach.handle
        self.open = True
        self.may_idle = may_idle
        self.touch()

    def touch(self) -> None:
        """Something came or went."""
        self.touched = self.session.connection.time()

    def refuse(self, error: AmqpError) -> None:
        """Ends the link with an error."""
        if self.open:
            self.session.detach(self, error)

    @abstractmethod
    def on_flow(self, flow: Flow) -> None:
        """The client's view of credit has changed."""

    def closed(self) -> None:
        """The link is no more."""
        self.open = False


def detach(handle: UInt, error: AmqpError) -> Detach:
    """The detach that ends a link for good."""
    return Detach(handle=handle, closed=True, error=wire_error(error))


class IncomingLink(Link):
    """A link over which the client sends."""

    def __init__(
        self,
        session: Session,
        attach: Attach,
        target: Target,
        max_message_size: int,
        *,
        may_idle: bool = False,
    ) -> None:
        super().__init__(session, attach, may_idle=may_idle)
        self._target = target
        self._max_message_size = max_message_size
        self._delivery_count = int(attach.initial_delivery_count or 0)
        self._credit = 0
        self._first: Transfer | None = None
        self._gathered = bytearray()
        self._size = 0

    def answer(self, attach: Attach) -> Attach:
        """The attach that accepts the client's."""
        return Attach(
            name=attach.name,
            handle=attach.handle,
            role=RECEIVER,
            snd_settle_mode=attach.snd_settle_mode,
            rcv_settle_mode=attach.rcv_settle_mode,
            source=attach.source,
            target=attach.target,
            max_message_size=ULong(self._max_message_size),
        )

    def grant(self) -> None:
        """Tops the client's credit up once half of it is used."""
        if self._credit * 2 <= _CREDIT:
            self._credit = _CREDIT
            self.session.flow(self.handle, self._delivery_count, self._credit)

    def on_flow(self, flow: Flow) -> None:
        if flow.echo:
            self.session.flow(self.handle, self._delivery_count, self._credit)

    def on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        """Gathers the frames of a message and hands it on once it is whole."""
        self.touch()
        self._size += len(payload)
        if transfer.aborted:
            self._reset()
        elif transfer.more:
            self._first = self._first or replace(transfer, delivery_tag=None, state=None)
            self._gather(payload)
        else:
            self._whole(self._first or transfer, payload)

    def _gather(self, payload: bytes) -> None:
        """Keeps a part; of what is too large nothing, since it will be rejected."""
        if self._size > self._max_message_size:
            self._release()
            return
        held = self.session.connection.held
        self._gathered += payload
        held.add(len(payload))
        if held.full:
            self.refuse(too_much_held())

    def _release(self) -> None:
        if self._gathered:
            self.session.connection.held.free(len(self._gathered))
            self._gathered = bytearray()

    def _whole(self, first: Transfer, last: bytes) -> None:
        if first.delivery_id is None:
            raise AmqpError("amqp:invalid-field", "a delivery has no id")
        message = IncomingMessage(
            link=self,
            delivery_id=first.delivery_id,
            message_format=first.message_format or 0,
            settled=bool(first.settled),
            encoded=bytes(self._gathered) + last,
        )
        size = self._size
        self._reset()
        self._delivery_count = (self._delivery_count + 1) & SERIAL
        self._credit -= 1
        if size > self._max_message_size:
            message.reject(self._too_large(first, size))
        else:
            self._target.take(message)
        self.grant()

    def _reset(self) -> None:
        self._first = None
        self._size = 0
        self._release()

    def closed(self) -> None:
        super().closed()
        self._reset()

    def _too_large(self, first: Transfer, size: int) -> AmqpError:
        return AmqpError(
            _TOO_LARGE,
            f"The received message (delivery-id:{first.delivery_id}, size:{size} bytes) exceeds "
            f"the limit ({self._max_message_size} bytes) currently allowed on the link.",
        )

    def settle(self, delivery_id: int, outcome: Composite) -> None:
        """Tells the client the outcome of what it sent."""
        if self.open:
            first = UInt(delivery_id)
            self.session.send(Disposition(role=RECEIVER, first=first, settled=True, state=outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message on its way to a client.

    Attributes:
        tag: What the source knows it by; of 16 bytes for a peek-locked message.
    """

    link: OutgoingLink
    delivery_id: int
    tag: bytes

    def settle(self, outcome: Composite) -> None:
        """Confirms to the client what became of it."""
        self.link.settle(self, outcome)

    def reject(self, error: AmqpError) -> None:
        """Tells the client why its settlement failed."""
        if ends_link(error):
            self.link.refuse(error)
        else:
            self.settle(Rejected(error=wire_error(error)))


class OutgoingLink(Link):
    """A link over which the client receives.

    Attributes:
        terminus: What the client is told of the source.
        properties: What else it is told when the link opens.
    """

    def __init__(
        self, session: Session, attach: Attach, source: Source, *, may_idle: bool = False
    ) -> None:
        super().__init__(session, attach, may_idle=may_idle)
        self.terminus = attach.source
        self.properties: dict[object, object] | None = None
        self.target_address = address_text(attach.target)
        self.pre_settled = attach.snd_settle_mode == PRE_SETTLED
        self._source = source
        self._delivery_count = 0
        self._credit = 0
        self._draining = False
        self._unsettled: dict[int, Delivery] = {}

    def answer(self, attach: Attach) -> Attach:
        """The attach that accepts the client's."""
        return Attach(
            name=attach.name,
            handle=attach.handle,
            role=SENDER,
            snd_settle_mode=attach.snd_settle_mode,
            rcv_settle_mode=attach.rcv_settle_mode,
            source=self.terminus,
            target=attach.target,
            initial_delivery_count=UInt(0),
            properties=self.properties,
        )

    def attached(self) -> None:
        """The client has its answer and may be sent to."""
        self._source.attached(self)

    @property
    def ready(self) -> bool:
        """Whether a message may be sent now."""
        return self.open and self._credit > 0 and self.session.writable

    def on_flow(self, flow: Flow) -> None:
        self.touch()
        seen = int(flow.delivery_count or 0)
        credit = (seen + int(flow.link_credit or 0) - self._delivery_count) & SERIAL
        self._credit = credit if credit <= SERIAL // 2 else 0
        self._draining = flow.drain
        self._source.credited(self)
        if flow.echo and not flow.drain:
            self.session.flow(self.handle, self._delivery_count, self._credit)

    def resume(self) -> None:
        """The session has room again."""
        if self._credit > 0:
            self._source.credited(self)

    def exhausted(self) -> None:
        """The source has nothing more; a client that drains gets its credit back."""
        if self._draining and self.open:
            self._delivery_count = (self._delivery_count + self._credit) & SERIAL
            self._credit, self._draining = 0, False
            self.session.flow(self.handle, self._delivery_count, 0, drain=True)

    def send(self, tag: bytes, encoded: bytes, *, settled: bool) -> None:
        """Sends a message; the client settles it unless it already is."""
        self.touch()
        self._delivery_count = (self._delivery_count + 1) & SERIAL
        self._credit -= 1
        delivery_id = self.session.transfer(self, tag, encoded, settled=settled)
        if not settled:
            delivery = Delivery(link=self, delivery_id=delivery_id, tag=tag)
            self._unsettled[delivery_id] = delivery
            self.session.unsettled[delivery_id] = delivery

    def on_disposition(self, delivery: Delivery, state: Composite | None, *, settled: bool) -> None:
        """The client says what is to become of a delivery, and waits for an answer or not."""
        self.touch()
        if settled:
            del self._unsettled[delivery.delivery_id]
        self._source.settle(delivery, state)

    def settle(self, delivery: Delivery, outcome: Composite) -> None:
        """Tells the client what became of a delivery, if it waits for that."""
        if self.open and delivery.delivery_id in self._unsettled:
            del self._unsettled[delivery.delivery_id]
            first = UInt(delivery.delivery_id)
            self.session.send(Disposition(role=SENDER, first=first, settled=True, state=outcome))

    def closed(self) -> None:
        super().closed()
        for delivery_id in self._unsettled:
            self.session.unsettled.pop(delivery_id, None)
        self._source.detached(self)
