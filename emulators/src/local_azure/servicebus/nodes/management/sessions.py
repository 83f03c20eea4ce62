"""Requests about sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.faults import Lapse
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Int, Timestamp
from local_azure.servicebus.nodes.content import WireContent, timestamp
from local_azure.servicebus.nodes.management.body import Body, natural, optional, required

if TYPE_CHECKING:
    from local_azure.servicebus.broker.session_queue import SessionQueue
    from local_azure.servicebus.nodes.gate import Twists
    from local_azure.servicebus.nodes.management.plan import Asked, Effect, Plan

_NO_TIME = 253_402_300_800_000
"""The milliseconds that stand for "whenever it was": the end of .NET's time."""


def renew_session_lock(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Begins the time of a session's lock anew."""
    session_id = required(asked.body, "session-id", str)

    def renew() -> Body:
        lock = asked.entity.renew_session(asked.session_lock(session_id), asked.now)
        return {"expiration": timestamp(asked.clock.on_wall(lock.until))}

    return _on_session(asked, session_id, renew)


def get_session_state(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Reads what is stored with a session."""
    session_id = required(asked.body, "session-id", str)

    def read() -> Body:
        return {"session-state": asked.entity.state(asked.session_lock(session_id), asked.now)}

    return _on_session(asked, session_id, read)


def set_session_state(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Stores something with a session."""
    session_id = required(asked.body, "session-id", str)
    state = optional(asked.body, "session-state", bytes)

    def store() -> Body:
        asked.entity.set_state(asked.session_lock(session_id), state, asked.now)
        return {}

    return _on_session(asked, session_id, store)


def get_message_sessions(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Lists sessions, a page at a time."""
    since = required(asked.body, "last-updated-time", Timestamp)
    skip, top = natural(asked.body, "skip"), natural(asked.body, "top")
    after = None if since == _NO_TIME else since / 1000 - asked.clock.on_wall(0)

    def listed() -> Body | None:
        page = asked.entity.sessions(asked.now, after)[skip : skip + top]
        return {"skip": Int(skip + len(page)), "sessions-ids": list(page)} if page else None

    return asked.plan(listed)


def _on_session(asked: Asked[SessionQueue[WireContent]], session_id: str, effect: Effect) -> Plan:
    return asked.plan(effect, keys=[session_id], twists=lambda: _lapsing(asked, session_id))


def _lapsing(asked: Asked[SessionQueue[WireContent]], session_id: str) -> Twists:
    """A `Lapse` where the lock of a session is relied on: it ends."""
    try:
        lock = asked.session_lock(session_id)
    except AmqpError:
        return {}
    return {Lapse: lambda: asked.entity.drop_session_lock(lock, asked.now)}
