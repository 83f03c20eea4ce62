"""Settlements: what a receiver asks for, in either of the two ways it can, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.amqp.errors import AmqpError
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

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from local_azure.servicebus.queue import Queue

_REASON, _DESCRIPTION = "DeadLetterReason", "DeadLetterErrorDescription"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A settlement that was asked for.

    Attributes:
        operation: Its name: complete, abandon, dead_letter or release.
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
ABANDON = Settlement(
    operation="abandon",
    apply=lambda queue, token, now: queue.abandon(token, now),
    confirmation=Modified(delivery_failed=True),
)
RELEASE = Settlement(
    operation="release",
    apply=lambda queue, token, now: queue.release(token, now),
    confirmation=Released(),
)


def dead_letter(reason: object, description: object) -> Settlement:
    """The settlement that moves a message to the dead-letter queue."""
    reason_text, description_text = _text(reason), _text(description)
    return Settlement(
        operation="dead_letter",
        apply=lambda queue, token, now: queue.dead_letter(
            token, reason_text, description_text, now
        ),
        confirmation=Rejected(),
    )


def from_outcome(outcome: Composite | None) -> Settlement:
    """The settlement that an outcome on a link stands for.

    Raises:
        AmqpError: None that is emulated.
    """
    match outcome:
        case Accepted():
            return COMPLETE
        case Released():
            return RELEASE
        case Rejected(error=error):
            return _rejection(error)
        case Modified(undeliverable_here=True):
            raise _not_yet("Deferral")
        case Modified():  # the JavaScript SDK abandons without saying that the delivery failed
            return ABANDON
        case _:
            raise AmqpError("amqp:invalid-field", "A delivery is settled with an outcome.")


def _rejection(error: Described | Error | None) -> Settlement:
    decoded = decode_composite(error) if isinstance(error, Described) else error
    if not isinstance(decoded, Error):
        return dead_letter(None, None)
    info = decoded.info or {}
    return dead_letter(info.get(_REASON), info.get(_DESCRIPTION, decoded.description))


def from_status(request: dict[object, object]) -> Settlement:
    """The settlement that the body of an update-disposition request stands for.

    Raises:
        AmqpError: None that is emulated.
    """
    match request.get("disposition-status"):
        case "completed":
            return COMPLETE
        case "abandoned":
            return ABANDON
        case "suspended":
            return dead_letter(
                request.get("deadletter-reason"), request.get("deadletter-description")
            )
        case "defered":
            raise _not_yet("Deferral")
        case status:
            raise AmqpError("com.microsoft:argument-error", f"There is no status {status!r}.")


def _not_yet(what: str) -> AmqpError:
    return AmqpError("amqp:not-implemented", f"{what} is not emulated yet.")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
