"""Requests about messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.types import Array, Long
from local_azure.servicebus.broker.limits import MAX_MESSAGE_SIZE
from local_azure.servicebus.nodes.content import WireContent, encode_message, timestamp
from local_azure.servicebus.nodes.management.body import (
    Body,
    each,
    lock_tokens,
    natural,
    optional,
    required,
    sequence_numbers,
)
from local_azure.servicebus.nodes.settlement import from_status
from local_azure.servicebus.nodes.twists import forgetting, lapsing

if TYPE_CHECKING:
    from uuid import UUID

    from local_azure.servicebus.broker.intake import Intake
    from local_azure.servicebus.broker.message import Message
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.nodes.management.plan import Asked, Effect, Plan

_FIRST = 0
"""The receiver settle mode of who receives and deletes."""


def renew_lock(asked: Asked[Queue[WireContent]]) -> Plan:
    """Begins the time of locks anew."""
    tokens = lock_tokens(asked.body)

    def renew() -> Body:
        locks = [asked.entity.renew(token, asked.now) for token in tokens]
        ends = [timestamp(asked.clock.on_wall(lock.until)) for lock in locks]
        return {"expirations": Array(ends)}

    return _on_locks(asked, tokens, renew, name="renew")


def update_disposition(asked: Asked[Queue[WireContent]]) -> Plan:
    """Settles messages whose link is no more, or that came without one."""
    tokens, settlement = lock_tokens(asked.body), from_status(asked.body)

    def settle() -> Body:
        for token in tokens:
            settlement.apply(asked.entity, token, asked.now)
        return {}

    return _on_locks(asked, tokens, settle, name=settlement.operation)


def receive_by_sequence_number(asked: Asked[Queue[WireContent]]) -> Plan:
    """Receives deferred messages."""
    numbers, session_id = sequence_numbers(asked.body), optional(asked.body, "session-id", str)
    deletes = required(asked.body, "receiver-settle-mode", int) == _FIRST

    def receive() -> Body:
        if session_id is not None:
            asked.session_lock(session_id)
        messages = asked.entity.receive_deferred(
            numbers, asked.now, session_id, asked.connection, delete=deletes
        )
        return {"messages": [_received(message, asked) for message in messages]}

    return asked.plan(receive)


def peek_message(asked: Asked[Intake[WireContent]]) -> Plan:
    """Shows messages; as many as fit into one answer."""
    start = required(asked.body, "from-sequence-number", int)
    count = natural(asked.body, "message-count")
    session_id = optional(asked.body, "session-id", str)

    def peek() -> Body | None:
        found = asked.entity.peek(start, count, asked.now, session_id)
        encoded = [encode_message(message, asked.clock) for message in found]
        fitting = encoded[: max(1, _fitting(encoded))]
        return {"messages": [{"message": each} for each in fitting]} if fitting else None

    return asked.plan(peek)


def schedule_message(asked: Asked[Intake[WireContent]]) -> Plan:
    """Takes messages in that become active later."""
    entries = each(asked.body, "messages", dict)
    encoded = [required(entry, "message", bytes) for entry in entries]
    contents = [WireContent.parse(message, asked.clock) for message in encoded]

    def schedule() -> Body:
        numbers = asked.entity.send(contents, asked.now)
        return {"sequence-numbers": Array(Long(number) for number in numbers)}

    return asked.plan(
        schedule,
        keys=[content.message_id for content in contents],
        twists=lambda: forgetting(asked.entity, contents),
    )


def cancel_scheduled_message(asked: Asked[Intake[WireContent]]) -> Plan:
    """Removes scheduled messages."""
    numbers = sequence_numbers(asked.body)

    def cancel() -> Body:
        asked.entity.cancel(numbers, asked.now)
        return {}

    return asked.plan(cancel)


def _on_locks(
    asked: Asked[Queue[WireContent]], tokens: list[UUID], effect: Effect, *, name: str
) -> Plan:
    messages = [asked.entity.locked(token) for token in tokens]
    return asked.plan(
        effect,
        name=name,
        keys=[None if message is None else message.message_id for message in messages],
        twists=lambda: lapsing(asked.entity, tokens, asked.clock),
    )


def _received(message: Message[WireContent], asked: Asked[Queue[WireContent]]) -> Body:
    received: Body = {"message": encode_message(message, asked.clock)}
    if message.lock is not None:
        received["lock-token"] = message.lock.token
    return received


def _fitting(encoded: list[bytes]) -> int:
    """How many messages come to no more than the largest one may have."""
    room = MAX_MESSAGE_SIZE
    for count, message in enumerate(encoded):
        room -= len(message)
        if room < 0:
            return count
    return len(encoded)
