"""What a queue refuses to take in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.errors import AmqpError

if TYPE_CHECKING:
    from local_azure.servicebus.broker.checks import EntityStatus
    from local_azure.servicebus.broker.message import Content

MEGABYTE = 1024 * 1024
MAX_MESSAGE_SIZE = 256 * 1024
MAX_SESSION_STATE = 256 * 1024
MAX_ID_LENGTH = 128
MAX_PROPERTY_SIZE = 32 * 1024
MAX_PROPERTIES_SIZE = 64 * 1024
MAX_DEAD_LETTER_TEXT = 4096
MAX_HOPS = 4


def check_content(content: Content) -> None:
    """Refuses a message whose ids or properties are too long."""
    _check_ids(content)
    check_properties(content)


def _check_ids(content: Content) -> None:
    for name, value in (("MessageId", content.message_id), ("SessionId", content.session_id)):
        if len(value or "") > MAX_ID_LENGTH:
            raise AmqpError(
                "com.microsoft:argument-error",
                f"The length of {name} cannot exceed {MAX_ID_LENGTH} characters.",
            )


def check_properties(content: Content) -> None:
    """Refuses properties that are too large; one of them as the service does, uninformatively."""
    size = content.properties_size
    if size > MAX_PROPERTIES_SIZE:
        raise AmqpError(
            "amqp:link:message-size-exceeded",
            "A serialization error occurred while processing the message header stream. The "
            "serialization process return the following message: The size quota for this stream "
            f"({MAX_PROPERTIES_SIZE}) has been exceeded.",
        )
    if size > MAX_PROPERTY_SIZE and content.largest_property_size() > MAX_PROPERTY_SIZE:
        raise AmqpError(
            "amqp:internal-error",
            "The service was unable to process the request; please retry the operation.",
        )


def check_size(name: str, size: int, megabytes: int) -> None:
    """Refuses what an entity has no room for."""
    limit = megabytes * MEGABYTE
    if size > limit:
        raise AmqpError(
            "amqp:resource-limit-exceeded",
            f"The maximum entity size has been reached or exceeded for Queue: '{name}'. "
            f"Size of entity in bytes:{size}, Max entity size in bytes:{limit}.",
        )


def check_status(name: str, status: EntityStatus, closed: EntityStatus) -> None:
    """Refuses senders (``closed`` is ``SendDisabled``) or receivers of a disabled entity."""
    if status in ("Disabled", closed):
        raise AmqpError(
            "com.microsoft:entity-disabled", f"Messaging entity '{name}' is currently disabled."
        )
