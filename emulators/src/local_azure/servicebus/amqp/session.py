"""Sessions: links and the window they share (AMQP 1.0, part 2.5)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.link import (
    RECEIVER,
    SENDER,
    SERIAL,
    Delivery,
    IncomingLink,
    Link,
    OutgoingLink,
    detach,
    wanted_address,
)
from local_azure.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Composite,
    Detach,
    Disposition,
    Flow,
    Transfer,
    decode_composite,
)
from local_azure.servicebus.amqp.types import Described, UInt, UShort

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.amqp.connection import Connection

_WINDOW = 5000
_HANDLE_MAX = 255
_TRANSFER_OVERHEAD = 128


@dataclass(slots=True)
class _Opening:
    """A link that a client has asked for and not been answered on; it may send credit at once."""

    attach: Attach
    flow: Flow | None = None


class Session:
    """One session of a connection.

    Attributes:
        unsettled: What was sent and awaits the client's settlement, by delivery id.
    """

    def __init__(self, connection: Connection, channel: int, begin: Begin) -> None:
        self.connection = connection
        self.channel = channel
        self.unsettled: dict[int, Delivery] = {}
        self._links: dict[int, Link] = {}
        self._opening: dict[int, _Opening] = {}
        self._muted: set[int] = set()  # handles of links that ended, which the client may not know
        self._next_incoming_id = int(begin.next_outgoing_id)
        self._incoming_window = _WINDOW
        self._next_outgoing_id = 0
        self._remote_window = int(begin.incoming_window)
        self._next_delivery_id = 0
        self._waiting: deque[tuple[Transfer, bytes]] = deque()

    def begin(self) -> None:
        """Answers the client's begin."""
        self.send(
            Begin(
                remote_channel=UShort(self.channel),
                next_outgoing_id=UInt(self._next_outgoing_id),
                incoming_window=UInt(_WINDOW),
                outgoing_window=UInt(_WINDOW),
                handle_max=UInt(_HANDLE_MAX),
            )
        )

    def send(self, performative: Composite, payload: bytes = b"") -> None:
        """Sends a frame on this session's channel."""
        self.connection.send(performative, channel=self.channel, payload=payload)

    def on_frame(self, performative: Composite, payload: bytes) -> None:
        """The client sent a frame on this session's channel."""
        match performative:
            case Transfer():
                self._on_transfer(performative, payload)
            case Disposition():
                self._on_disposition(performative)
            case Flow():
                self._on_flow(performative)
            case Attach():
                self._on_attach(performative)
            case Detach():
                self._on_detach(performative)
            case _:
                raise AmqpError("amqp:not-allowed", f"no {type(performative).__name__} here")

    # ------------------------------------------------------------ links

    def _on_attach(self, attach: Attach) -> None:
        """The client opens a link; the connection's container decides where to."""
        taken = attach.handle in self._links or attach.handle in self._opening
        if taken or attach.handle > _HANDLE_MAX:
            raise AmqpError("amqp:session:handle-in-use", f"handle {attach.handle} is not free")
        self._muted.discard(attach.handle)
        self._opening[attach.handle] = _Opening(attach)
        if self.connection.crowded:
            text = "The connection has more links than it may have."
            self.refuse(attach, AmqpError("amqp:resource-limit-exceeded", text))
        else:
            self.connection.container.attach(self, attach)

    def awaits(self, attach: Attach) -> bool:
        """Whether the client still waits for the answer to an attach."""
        opening = self._opening.get(attach.handle)
        return opening is not None and opening.attach is attach

    def accept(self, link: IncomingLink | OutgoingLink, attach: Attach) -> None:
        """Opens a link as the client asked for, unless it has given up waiting for it."""
        if not self.awaits(attach):
            return
        flow = self._opening.pop(attach.handle).flow
        self._links[link.handle] = link
        self.connection.links_changed()
        self.send(link.answer(attach))
        match link:
            case IncomingLink():
                link.grant()
            case OutgoingLink():
                link.attached()
        if flow is not None:
            link.on_flow(flow)

    def refuse(self, attach: Attach, error: AmqpError) -> None:
        """Answers with a link that leads nowhere and ends it, which is how a refusal looks."""
        if self.awaits(attach):
            del self._opening[attach.handle]
            self._muted.add(attach.handle)
            self._send_nowhere(attach)
            self.send(detach(attach.handle, error))

    def _send_nowhere(self, attach: Attach) -> None:
        count = UInt(0) if attach.role == RECEIVER else None
        self.send(
            Attach(
                name=attach.name,
                handle=attach.handle,
                role=not attach.role,
                initial_delivery_count=count,
            )
        )

    def detach(self, link: Link, error: AmqpError) -> None:
        """Ends a link; the client's answer is awaited and what it still sends is ignored."""
        self._muted.add(link.handle)
        self.send(detach(link.handle, error))
        self._close(link)

    def refuse_links(self, which: Callable[[str], bool], error: AmqpError) -> None:
        """Ends the links, open or asked for, whose address a condition names."""
        for opening in tuple(self._opening.values()):
            if which(wanted_address(opening.attach) or ""):
                self.refuse(opening.attach, error)
        for link in self.links:
            if which(link.address):
                link.refuse(error)

    def _on_detach(self, performative: Detach) -> None:
        """The client ends a link, gives up on one, or answers that one has ended."""
        handle = performative.handle
        if handle in self._muted:
            self._muted.discard(handle)
            return
        if handle in self._opening:
            self._send_nowhere(self._opening.pop(handle).attach)
            self.send(Detach(handle=handle, closed=True))
            return
        link = self._link(handle)
        self.send(Detach(handle=link.handle, closed=performative.closed))
        self._close(link)

    def _close(self, link: Link) -> None:
        del self._links[link.handle]
        self._drop_waiting(link)
        link.closed()
        self.connection.links_changed()

    def close(self) -> None:
        """Ends all links; the session is no more."""
        self._opening.clear()
        for link in list(self._links.values()):
            self._close(link)
        self._muted.clear()

    @property
    def link_count(self) -> int:
        """How many links are open or asked for."""
        return len(self._links) + len(self._opening)

    @property
    def links(self) -> list[Link]:
        """The links that are open."""
        return list(self._links.values())

    def outgoing_links(self) -> list[OutgoingLink]:
        """The links over which the client receives."""
        return [link for link in self._links.values() if isinstance(link, OutgoingLink)]

    def _link(self, handle: int) -> Link:
        link = self._links.get(handle)
        if link is None:
            raise AmqpError("amqp:session:unattached-handle", f"handle {handle} is not attached")
        return link

    # ------------------------------------------------------------ flow

    @property
    def writable(self) -> bool:
        """Whether the client's window and the socket take another message."""
        connection = self.connection
        return (
            self._remote_window > 0
            and not self._waiting
            and connection.writable
            and not connection.held.full
        )

    def _on_flow(self, flow: Flow) -> None:
        """The client has made room, for the session or for one link."""
        was_full = not self.writable
        expected = int(flow.next_incoming_id or 0)
        room = (expected + int(flow.incoming_window) - self._next_outgoing_id) & SERIAL
        self._remote_window = room if room <= SERIAL // 2 else 0
        self._send_waiting()
        if flow.handle is None and flow.echo:
            self.flow()
        elif flow.handle in self._opening:
            self._opening[flow.handle].flow = flow
        elif flow.handle is not None and flow.handle not in self._muted:
            self._link(flow.handle).on_flow(flow)
        if was_full:
            self.resume()

    def resume(self) -> None:
        """There may be room again for what the sources hold back."""
        for link in self.outgoing_links():
            link.resume()

    def flow(
        self,
        handle: UInt | None = None,
        delivery_count: int | None = None,
        credit: int | None = None,
        *,
        drain: bool = False,
    ) -> None:
        """Tells the client this side's window, and a link's credit."""
        self.send(
            Flow(
                next_incoming_id=UInt(self._next_incoming_id),
                incoming_window=UInt(self._incoming_window),
                next_outgoing_id=UInt(self._next_outgoing_id),
                outgoing_window=UInt(_WINDOW),
                handle=handle,
                delivery_count=None if delivery_count is None else UInt(delivery_count),
                link_credit=None if credit is None else UInt(credit),
                drain=drain,
            )
        )

    # ------------------------------------------------------------ messages

    def _on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        """The client sends a message, or a part of one."""
        self._next_incoming_id = (self._next_incoming_id + 1) & SERIAL
        self._incoming_window -= 1
        if self._incoming_window * 2 <= _WINDOW:
            self._incoming_window = _WINDOW
            self.flow()
        if transfer.handle in self._muted:
            return
        link = self._link(transfer.handle)
        if not isinstance(link, IncomingLink):
            raise AmqpError("amqp:not-allowed", "a transfer came on a receiver's link")
        link.on_transfer(transfer, payload)

    def transfer(self, link: OutgoingLink, tag: bytes, encoded: bytes, *, settled: bool) -> int:
        """Sends a message in as many frames as the client's limit asks for.

        Returns:
            The id of the delivery.
        """
        delivery_id = self._next_delivery_id
        self._next_delivery_id = (delivery_id + 1) & SERIAL
        size = self.connection.max_payload(_TRANSFER_OVERHEAD)
        for start in range(0, len(encoded), size):
            transfer = Transfer(
                handle=UInt(link.handle),
                delivery_id=UInt(delivery_id),
                delivery_tag=tag,
                message_format=UInt(0),
                settled=settled,
                more=start + size < len(encoded),
            )
            self._send_or_wait(transfer, encoded[start : start + size])
        return delivery_id

    def _send_or_wait(self, transfer: Transfer, part: bytes) -> None:
        if self._waiting or self._remote_window == 0:
            self._waiting.append((transfer, part))
            self.connection.held.add(len(part))
        else:
            self._send_part(transfer, part)

    def _send_part(self, transfer: Transfer, part: bytes) -> None:
        self._remote_window -= 1
        self._next_outgoing_id = (self._next_outgoing_id + 1) & SERIAL
        self.send(transfer, part)

    def _send_waiting(self) -> None:
        while self._waiting and self._remote_window > 0:
            transfer, part = self._waiting.popleft()
            self.connection.held.free(len(part))
            self._send_part(transfer, part)

    def _drop_waiting(self, link: Link) -> None:
        """Forgets what a link that has ended had still to send; none of it may follow."""
        for _ in range(len(self._waiting)):
            transfer, part = self._waiting.popleft()
            if transfer.handle == link.handle:
                self.connection.held.free(len(part))
            else:
                self._waiting.append((transfer, part))

    def _on_disposition(self, disposition: Disposition) -> None:
        """The client settles deliveries; those of links that have ended are ignored."""
        if disposition.role == SENDER:
            return
        last = disposition.first if disposition.last is None else disposition.last
        state = disposition.state
        outcome = decode_composite(state) if isinstance(state, Described) else None
        for delivery in self._settled(int(disposition.first), int(last)):
            delivery.link.on_disposition(delivery, outcome, settled=disposition.settled)

    def _settled(self, first: int, last: int) -> list[Delivery]:
        """Takes the deliveries of a range out; the range is the client's and may be huge."""
        if first == last:
            ids = [first] if first in self.unsettled else []
        else:
            ids = [known for known in self.unsettled if first <= known <= last]
        return [self.unsettled.pop(known) for known in ids]
