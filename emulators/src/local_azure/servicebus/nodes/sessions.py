"""Sessions on the wire: a receiver's link is open as long as it has locked a session."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Described, Long, Symbol
from local_azure.servicebus.nodes.queues import QueueSource, Receiver

if TYPE_CHECKING:
    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.amqp.link import OutgoingLink
    from local_azure.servicebus.amqp.performatives import Attach
    from local_azure.servicebus.broker.message import Message
    from local_azure.servicebus.broker.session_queue import SessionLock, SessionQueue
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.gate import Gate
    from local_azure.servicebus.nodes.queues import LocksOnConnectionLoss

_FILTER = "com.microsoft:session-filter"
_FILTER_INDEX = 7
_TIMEOUT = "com.microsoft:timeout"
_LOCKED_UNTIL = Symbol("com.microsoft:locked-until-utc")
_DEFAULT_TIMEOUT = 60.0
_TICKS_TO_1970 = 621_355_968_000_000_000
_TICKS_A_SECOND = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """The session that a receiver wants; without an id, the next available one."""

    session_id: str | None

    @classmethod
    def of(cls, attach: Attach) -> SessionFilter | None:
        """The filter in an attach.

        Raises:
            AmqpError: It is no session's id, or there are other filters.
        """
        filters = _filters(attach.source)
        if others := sorted(str(name) for name in filters if name != _FILTER):
            raise AmqpError("amqp:not-implemented", f"There is no filter {', '.join(others)}.")
        if _FILTER not in filters:
            return None
        wanted = filters[_FILTER]
        session_id = wanted.value if isinstance(wanted, Described) else wanted
        if not isinstance(session_id, str | None):
            raise AmqpError("amqp:invalid-field", "A session's id is a string.")
        return cls(session_id=session_id)


def _filters(source: Described | None) -> dict[object, object]:
    fields = source.value if source is not None else None
    listed = fields[_FILTER_INDEX:] if isinstance(fields, list) else []
    return listed[0] if listed and isinstance(listed[0], dict) else {}


def _source_of(attach: Attach, session_id: str) -> Described | None:
    """The source as it was asked for, with the session that was granted."""
    source = attach.source
    if source is None or not isinstance(source.value, list):
        return source
    fields = list(source.value)
    fields[_FILTER_INDEX] = {Symbol(_FILTER): session_id}
    return Described(source.descriptor, fields)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Waiter:
    """A receiver that waits for a session to become available."""

    link: OutgoingLink
    attach: Attach
    timer: asyncio.TimerHandle

    @property
    def waits(self) -> bool:
        return self.link.session.awaits(self.attach)


class SessionSource(QueueSource):
    """Hands a session's messages out to the link that has locked it."""

    _queue: SessionQueue[WireContent]

    def __init__(
        self,
        queue: SessionQueue[WireContent],
        gate: Gate,
        on_connection_loss: LocksOnConnectionLoss,
    ) -> None:
        super().__init__(queue, gate, on_connection_loss)
        self._locks: dict[OutgoingLink, SessionLock] = {}
        self._waiters: list[_Waiter] = []

    def close(self, reason: AmqpError) -> None:
        """Sends all receivers away, also those that wait."""
        for waiter in self._waiters:
            waiter.timer.cancel()
            waiter.link.session.refuse(waiter.attach, reason)
        self._waiters.clear()
        super().close(reason)

    def lock_of(self, connection: Connection, link: str | None, session_id: str) -> SessionLock:
        """The lock that a receiver on a connection has of a session.

        Args:
            connection: The connection.
            link: The name of the receiver's link, if that is known.
            session_id: The session.

        Raises:
            AmqpError: No such receiver has locked it, or not any more.
        """
        for receiver in self._receivers.values():
            lock, its = receiver.session, receiver.link
            if (
                lock is not None
                and lock.session_id == session_id
                and its.session.connection is connection
                and link in (None, its.name)
                and self._queue.holds(lock)
            ):
                return lock
        raise self._queue.lock_lost()

    # ------------------------------------------------------------ opening

    def open(self, link: OutgoingLink, attach: Attach, wanted: SessionFilter) -> None:
        """Locks a session and opens the link; waits for a session if it may be any."""
        if not link.session.awaits(attach):
            return
        try:
            lock = self._lock(link, wanted.session_id)
        except AmqpError as error:
            link.session.refuse(attach, error)
            return
        if lock is not None:
            self._grant(link, attach, lock)
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(_timeout(attach), self._time_out, link, attach)
        self._waiters.append(_Waiter(link=link, attach=attach, timer=timer))

    def _lock(self, link: OutgoingLink, session_id: str | None) -> SessionLock | None:
        now = self._gate.clock.now()
        return self._queue.accept(session_id, now, until_closed=link.pre_settled)

    def _grant(self, link: OutgoingLink, attach: Attach, lock: SessionLock) -> None:
        until = _ticks(self._gate.clock.on_wall(lock.until))
        link.terminus = _source_of(attach, lock.session_id)
        link.properties = {**(attach.properties or {}), _LOCKED_UNTIL: until}
        self._locks[link] = lock
        link.session.accept(link, attach)

    def _serve_waiters(self) -> None:
        self._forget_waiters()
        while self._waiters and (lock := self._lock(self._waiters[0].link, None)) is not None:
            waiter = self._waiters.pop(0)
            waiter.timer.cancel()
            self._grant(waiter.link, waiter.attach, lock)

    def _time_out(self, link: OutgoingLink, attach: Attach) -> None:
        text = "The operation did not complete within the allotted timeout: no session available."
        link.session.refuse(attach, AmqpError("com.microsoft:timeout", text))
        self._forget_waiters()

    def _forget_waiters(self) -> None:
        for waiter in [waiter for waiter in self._waiters if not waiter.waits]:
            waiter.timer.cancel()
            self._waiters.remove(waiter)

    # ------------------------------------------------------------ the queue's listener

    def session_lost(self) -> None:
        """Ends the links whose sessions are lost, outside of the operation that this came from."""
        asyncio.get_running_loop().call_soon(self._end_lost)

    def _end_lost(self) -> None:
        for receiver in tuple(self._receivers.values()):
            if receiver.session is not None and not self._queue.holds(receiver.session):
                text = "The session lock has expired on the session. Accept a new session."
                receiver.link.refuse(AmqpError("com.microsoft:session-lock-lost", text))

    def _is_wanted(self) -> bool:
        return super()._is_wanted() or bool(self._waiters)

    def _hand_out(self) -> None:
        self._serve_waiters()
        super()._hand_out()

    # ------------------------------------------------------------ the links' source

    def attached(self, link: OutgoingLink) -> None:
        """A receiver has come with its session."""
        self._add(Receiver(link=link, session=self._locks.pop(link)))

    def _receive(self, receiver: Receiver) -> Message[WireContent] | None:
        if receiver.session is not None:
            self._queue.check_held(receiver.session, self._gate.clock.now())
        return super()._receive(receiver)

    def _gone(self, receiver: Receiver) -> None:
        """Gives the session back, unless the connection broke: its lock runs on or is dropped."""
        lock, now = receiver.session, self._gate.clock.now()
        if lock is None:
            return
        broke = receiver.link.session.connection.broken
        if broke and self._drops_locks:
            self._queue.drop_session_lock(lock, now)
        elif receiver.link.pre_settled or not broke:
            self._queue.close(lock, now)


def _timeout(attach: Attach) -> float:
    """Seconds that the client waits for a session."""
    milliseconds = (attach.properties or {}).get(_TIMEOUT)
    return milliseconds / 1000 if isinstance(milliseconds, int) else _DEFAULT_TIMEOUT


def _ticks(moment: float) -> Long:
    """A time as .NET counts it: tenths of microseconds since the year 1."""
    return Long(round(moment * _TICKS_A_SECOND) + _TICKS_TO_1970)
