"""Settlements: what a receiver asks for, in either of the two ways it can, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.amqp.errors import AmqpError, DecodeError
from local_azure.servicebus.amqp.performatives import (
    Accepted,
    Composite,
    Error,
    Modified,
    Rejected,
    Released,
    decode_composite,
)
from local_azure.servicebus.amqp.types import Described
from local_azure.servicebus.broker.fields import Changes

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from local_azure.servicebus.broker.queue import Queue

_REASON, _DESCRIPTION = "DeadLetterReason", "DeadLetterErrorDescription"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A settlement that was asked for.

    Attributes:
        operation: Its name: complete, abandon, defer, dead_letter or release.
        apply: Does it to the message of a lock, at a time.
        confirmation: The outcome that tells the client it is done. It is the outcome the client
            asked for; a rejection must come without error, which would mean a failure.
    """

    operation: str
    apply: Callable[[Queue[Any], UUID, float], None]
    confirmation: Composite


COMPLETE = Settlement(
    operation="complete",
    apply=lambda queue, token, now: queue.complete(token, now),
    confirmation=Accepted(),
)
RELEASE = Settlement(
    operation="release",
    apply=lambda queue, token, now: queue.release(token, now),
    confirmation=Released(),
)


def abandon(changes: Changes) -> Settlement:
    """The settlement that gives a message back, with other properties."""
    return Settlement(
        operation="abandon",
        apply=lambda queue, token, now: queue.abandon(token, now, changes),
        confirmation=Modified(delivery_failed=True),
    )


def defer(changes: Changes) -> Settlement:
    """The settlement that puts a message aside, with other properties."""
    return Settlement(
        operation="defer",
        apply=lambda queue, token, now: queue.defer(token, now, changes),
        confirmation=Modified(delivery_failed=True, undeliverable_here=True),
    )


def dead_letter(reason: object, description: object, changes: Changes) -> Settlement:
    """The settlement that moves a message to the dead-letter queue, with other properties."""
    reason_text, description_text = _text(reason), _text(description)
    return Settlement(
        operation="dead_letter",
        apply=lambda queue, token, now: queue.dead_letter(
            token, reason_text, description_text, now, changes
        ),
        confirmation=Rejected(),
    )


def from_outcome(outcome: Composite | None) -> Settlement:
    """The settlement that an outcome on a link stands for.

    Raises:
        AmqpError: None.
    """
    match outcome:
        case Accepted():
            return COMPLETE
        case Released():
            return RELEASE
        case Rejected(error=error):
            return _rejection(error)
        case Modified(undeliverable_here=True, message_annotations=annotations):
            return defer(_changes(annotations))
        case Modified(message_annotations=annotations):
            # The JavaScript SDK abandons without saying that the delivery failed.
            return abandon(_changes(annotations))
        case _:
            raise AmqpError("amqp:invalid-field", "A delivery is settled with an outcome.")


def _rejection(error: Described | Error | None) -> Settlement:
    decoded = decode_composite(error) if isinstance(error, Described) else error
    if not isinstance(decoded, Error):
        return dead_letter(None, None, Changes())
    info = dict(decoded.info or {})
    reason, description = info.pop(_REASON, None), info.pop(_DESCRIPTION, decoded.description)
    return dead_letter(reason, description, _changes(info))


def from_status(request: dict[object, object]) -> Settlement:
    """The settlement that the body of an update-disposition request stands for.

    Raises:
        AmqpError: None.
    """
    changes = _changes(request.get("properties-to-modify"))
    match request.get("disposition-status"):
        case "completed":
            return COMPLETE
        case "abandoned":
            return abandon(changes)
        case "defered":
            return defer(changes)
        case "suspended":
            return dead_letter(
                request.get("deadletter-reason"), request.get("deadletter-description"), changes
            )
        case status:
            raise AmqpError("com.microsoft:argument-error", f"There is no status {status!r}.")


def _changes(properties: object) -> Changes:
    """The properties that a receiver changes; they arrive under keys that may be symbols."""
    given = {} if properties is None else properties
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise DecodeError("properties to modify are a map from text")
    return Changes(user={str(name): value for name, value in given.items()})


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
