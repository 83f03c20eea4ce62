"""Requests about sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.types import Int, Timestamp
from local_azure.servicebus.content import WireContent, timestamp
from local_azure.servicebus.management.body import Body, natural, optional, required

if TYPE_CHECKING:
    from local_azure.servicebus.management.plan import Asked, Plan
    from local_azure.servicebus.session_queue import SessionQueue

_NO_TIME = 253_402_300_800_000
"""The milliseconds that stand for "whenever it was": the end of .NET's time."""


def renew_session_lock(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Begins the time of a session's lock anew."""
    session_id = required(asked.body, "session-id", str)

    def renew() -> Body:
        lock = asked.entity.renew_session(session_id, asked.now)
        return {"expiration": timestamp(asked.clock.on_wall(lock.until))}

    return asked.plan(renew, key=session_id)


def get_session_state(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Reads what is stored with a session."""
    session_id = required(asked.body, "session-id", str)
    return asked.plan(
        lambda: {"session-state": asked.entity.state(session_id, asked.now)}, key=session_id
    )


def set_session_state(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Stores something with a session."""
    session_id = required(asked.body, "session-id", str)
    state = optional(asked.body, "session-state", bytes)

    def store() -> Body:
        asked.entity.set_state(session_id, state, asked.now)
        return {}

    return asked.plan(store, key=session_id)


def get_message_sessions(asked: Asked[SessionQueue[WireContent]]) -> Plan:
    """Lists sessions, a page at a time."""
    since = required(asked.body, "last-updated-time", Timestamp)
    skip, top = natural(asked.body, "skip"), natural(asked.body, "top")
    after = None if since == _NO_TIME else since / 1000 - asked.clock.on_wall(0)

    def listed() -> Body | None:
        page = asked.entity.sessions(asked.now, after)[skip : skip + top]
        return {"skip": Int(skip + len(page)), "sessions-ids": list(page)} if page else None

    return asked.plan(listed)
