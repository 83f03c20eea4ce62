"""Connections: SASL, frames, heartbeats (AMQP 1.0, parts 2.4 and 5.3) over one socket."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.frames import (
    AMQP_FRAME,
    AMQP_HEADER,
    EMPTY_FRAME,
    FRAME_HEAD,
    SASL_FRAME,
    SASL_HEADER,
    Frame,
    FrameReader,
    encode_frame,
)
from local_azure.servicebus.amqp.held import Held
from local_azure.servicebus.amqp.link import wire_error
from local_azure.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Close,
    Composite,
    End,
    Open,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
)
from local_azure.servicebus.amqp.session import Session
from local_azure.servicebus.amqp.types import Array, Symbol, UByte, UInt, UShort

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.amqp.link import Link

_logger = logging.getLogger(__name__)

_MAX_FRAME_SIZE = 65536
_MIN_MAX_FRAME_SIZE = 512
_CHANNEL_MAX = 4999
_MAX_LINKS = 5000
_WRITE_AT = 65536
_MECHANISMS = ("MSSBCBS", "ANONYMOUS", "PLAIN", "EXTERNAL")
_SASL_OK, _SASL_AUTH = UByte(0), UByte(1)


class Container(Protocol):
    """What a server does with the links of its connections."""

    name: str

    def opened(self, connection: Connection) -> None:
        """A connection has come."""

    def authenticates(self, connection: Connection, init: SaslInit) -> bool:
        """Whether SASL lets the client in."""

    def attach(self, session: Session, attach: Attach) -> None:
        """Accepts or refuses the link that a client asks for."""

    def closed(self, connection: Connection) -> None:
        """A connection has gone, after its links were told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRules:
    """Seconds of real time after which the server ends what is not used.

    Attributes:
        connection: A connection without a frame; also what clients are told.
        link: A link over which nothing comes or goes.
        first_link: A new connection without any link.
        no_links: A connection whose last link has ended.
    """

    connection: float = 240.0
    link: float = 600.0
    first_link: float = 60.0
    no_links: float = 300.0


class Connection(asyncio.Protocol):
    """One client's connection.

    Args:
        container: Decides about links.
        idle: When the client is taken for gone.

    Attributes:
        lost: It has ended.
        broken: It has ended, and the client did not say goodbye.
        writable: The socket takes more.
        held: What waits for the client.
    """

    def __init__(self, container: Container, idle: IdleRules) -> None:
        self.container = container
        self.lost = False
        self.broken = False
        self.writable = True
        self.held = Held(self._go_on)
        self._idle = idle
        self._reader = FrameReader(_MAX_FRAME_SIZE)
        self._stage: Callable[[], bool] = self._expect_sasl
        self._open = False
        self._sessions: dict[int, Session] = {}
        self._peer_max_frame_size = _MIN_MAX_FRAME_SIZE
        self._outgoing = bytearray()
        self._reading = False
        self._timers: dict[str, asyncio.TimerHandle] = {}

    # ------------------------------------------------------------ asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()
        self._heard = self._linked = self.time()
        self._linkless_for = self._idle.first_link
        self._watch()
        self.container.opened(self)

    def data_received(self, data: bytes) -> None:
        self._heard = self.time()
        self._reading = True
        self._reader.feed(data)
        try:
            while not self.lost and self._stage():
                pass
        except AmqpError as error:
            self.close(error)
        except Exception:
            _logger.exception("A frame could not be handled")
            self.close(AmqpError("amqp:internal-error", "The server failed on a frame."))
        self._reading = False
        self._flush()

    def pause_writing(self) -> None:
        self.writable = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self.writable = True
        self._transport.resume_reading()
        self._resume_sessions()

    def _go_on(self) -> None:
        """Sends what was held back, outside of what made room for it."""
        self._loop.call_soon(self._resume_sessions)

    def _resume_sessions(self) -> None:
        for session in tuple(self._sessions.values()):
            session.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(broken=True)

    # ------------------------------------------------------------ ending

    def close(self, error: AmqpError | None = None) -> None:
        """Says goodbye, with the reason if there is one, and ends the connection."""
        if self.lost:
            return
        if self._open:
            self.send(Close(error=None if error is None else wire_error(error)))
        self._flush()
        self._transport.close()
        self._end(broken=error is not None)

    def cut(self) -> None:
        """Ends the connection without a word, as a broken network does."""
        if not self.lost:
            self._flush()
            self._transport.abort()
            self._end(broken=True)

    def _end(self, *, broken: bool) -> None:
        if self.lost:
            return
        self.lost, self.broken = True, broken
        for timer in self._timers.values():
            timer.cancel()
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self.container.closed(self)

    # ------------------------------------------------------------ sending

    def send(self, performative: Composite, *, channel: int = 0, payload: bytes = b"") -> None:
        """Sends a frame, in one write with others that answer the same bytes."""
        self._send_raw(encode_frame(performative, channel=channel, payload=payload))

    def max_payload(self, overhead: int) -> int:
        """How many bytes of a message fit into one frame that the client can read."""
        return self._peer_max_frame_size - FRAME_HEAD - overhead

    def _send_raw(self, data: bytes) -> None:
        if self.lost:
            return
        if not self._outgoing and not self._reading:
            self._loop.call_soon(self._flush)
        self._outgoing += data
        if len(self._outgoing) > _WRITE_AT:
            self._flush()

    def _flush(self) -> None:
        """Writes what was gathered; the transport then tells whether it takes more."""
        if self._outgoing and not self._transport.is_closing():
            self._transport.write(bytes(self._outgoing))
        self._outgoing.clear()

    # ------------------------------------------------------------ heartbeats

    def time(self) -> float:
        """What idleness is measured by."""
        return self._loop.time()

    def later(self, name: str, seconds: float, then: Callable[[], None]) -> None:
        """Calls back unless the connection ends first; once for a name, the last time counts."""
        if self.lost:
            return
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = self._loop.call_later(seconds, then)

    def links_changed(self) -> None:
        """A link has opened or ended."""
        self._linked, self._linkless_for = self.time(), self._idle.no_links
        if not self.lost:
            self._watch()

    @property
    def crowded(self) -> bool:
        """Whether it has more links than it may have."""
        return sum(session.link_count for session in self._sessions.values()) > _MAX_LINKS

    def refuse_links(self, which: Callable[[str], bool], error: AmqpError) -> None:
        """Ends the links, open or asked for, whose address a condition names."""
        for session in tuple(self._sessions.values()):
            session.refuse_links(which, error)

    def _watch(self) -> None:
        """Ends what has been idle for too long, and looks again when something next might be."""
        now, links = self.time(), self._links()
        idle = {link: link.touched + self._idle.link for link in links if not link.may_idle}
        over = next((link for link, end in idle.items() if end <= now), None)
        if over is not None:
            over.refuse(_idle_link(over, self._idle.link))  # comes back here
            return
        ends = {self._heard + self._idle.connection: self._idle.connection}
        if not links:
            ends[self._linked + self._linkless_for] = self._linkless_for
        if (end := min(ends)) <= now:
            self.close(self._inactive(ends[end]))
            return
        self.later("watch", min([end, *idle.values()]) - now, self._watch)

    def _links(self) -> list[Link]:
        return [link for session in self._sessions.values() for link in session.links]

    def _inactive(self, seconds: float) -> AmqpError:
        return AmqpError(
            "amqp:connection:forced",
            f"The connection was inactive for more than the allowed {round(seconds * 1000)} "
            f"milliseconds and is closed by container '{self.container.name}'.",
        )

    def _beat_in(self, seconds: float) -> None:
        """Shows the client, from then on and as often, that this side lives."""

        def beat() -> None:
            self._send_raw(EMPTY_FRAME)
            self._beat_in(seconds)

        self.later("beat", seconds, beat)

    # ------------------------------------------------------------ stages

    def _expect_sasl(self) -> bool:
        """The client must ask for SASL first."""
        header = self._reader.next_header()
        if header is None:
            return False
        self._send_raw(SASL_HEADER)
        if header != SASL_HEADER:
            self.close()
            return False
        mechanisms = Array(map(Symbol, _MECHANISMS))
        offer = SaslMechanisms(sasl_server_mechanisms=mechanisms)
        self._send_raw(encode_frame(offer, kind=SASL_FRAME))
        self._stage = self._expect_sasl_init
        return True

    def _expect_sasl_init(self) -> bool:
        """The client chooses how to authenticate."""
        frame = self._reader.next_frame()
        if frame is None:
            return False
        init = frame.performative
        if not isinstance(init, SaslInit):
            raise AmqpError("amqp:not-allowed", "SASL must come to its end first")
        let_in = init.mechanism in _MECHANISMS and self.container.authenticates(self, init)
        outcome = SaslOutcome(code=_SASL_OK if let_in else _SASL_AUTH)
        self._send_raw(encode_frame(outcome, kind=SASL_FRAME))
        self._stage = self._expect_amqp
        if not let_in:
            self.close()
        return let_in

    def _expect_amqp(self) -> bool:
        """SASL is done; now AMQP itself."""
        header = self._reader.next_header()
        if header is None:
            return False
        self._send_raw(AMQP_HEADER)
        if header != AMQP_HEADER:
            self.close()
            return False
        self._stage = self._expect_open
        return True

    def _expect_open(self) -> bool:
        """The two sides tell each other their limits."""
        frame = self._reader.next_frame()
        if frame is None:
            return False
        opened = frame.performative
        self._stage, self._open = self._expect_frame, True
        self.send(
            Open(
                container_id=self.container.name,
                max_frame_size=UInt(_MAX_FRAME_SIZE),
                channel_max=UShort(_CHANNEL_MAX),
                idle_time_out=UInt(round(self._idle.connection * 1000)),
            )
        )
        if not isinstance(opened, Open):
            raise AmqpError("amqp:not-allowed", "a connection begins with an open")
        self._peer_max_frame_size = self._limit(opened)
        if opened.idle_time_out:
            self._beat_in(opened.idle_time_out / 2000)
        return True

    def _limit(self, opened: Open) -> int:
        if opened.max_frame_size < _MIN_MAX_FRAME_SIZE:
            raise AmqpError("amqp:invalid-field", "max-frame-size is at least 512")
        return min(int(opened.max_frame_size), _MAX_FRAME_SIZE)

    def _expect_frame(self) -> bool:
        """Whatever an open connection carries."""
        frame = self._reader.next_frame()
        if frame is None:
            return False
        if frame.performative is not None:
            self._dispatch(frame, frame.performative)
        return True

    def _dispatch(self, frame: Frame, performative: Composite) -> None:
        if frame.kind != AMQP_FRAME:
            raise AmqpError("amqp:framing-error", "no more SASL once the connection is open")
        match performative:
            case Begin():
                self._begin(frame.channel, performative)
            case End():
                self._end_session(frame)
            case Close():
                self.close()
            case _:
                self._session(frame).on_frame(performative, frame.payload)

    def _session(self, frame: Frame) -> Session:
        session = self._sessions.get(frame.channel)
        if session is None:
            raise AmqpError("amqp:not-allowed", f"channel {frame.channel} has no session")
        return session

    def _begin(self, channel: int, begin: Begin) -> None:
        if channel in self._sessions or channel > _CHANNEL_MAX:
            raise AmqpError("amqp:not-allowed", f"channel {channel} is not free")
        self._sessions[channel] = session = Session(self, channel, begin)
        session.begin()

    def _end_session(self, frame: Frame) -> None:
        session = self._session(frame)
        del self._sessions[frame.channel]
        session.close()
        session.send(End())


def _idle_link(link: Link, seconds: float) -> AmqpError:
    return AmqpError(
        "amqp:link:detach-forced",
        f"The link '{link.name}' is force detached by the broker because it was idle for "
        f"{round(seconds)} seconds.",
    )
