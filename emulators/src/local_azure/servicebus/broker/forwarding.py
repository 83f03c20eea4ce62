"""Where entities may forward to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.address import Address

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.broker.properties import QueueProperties


def check_forwarding(
    path: str, properties: QueueProperties, is_there: Callable[[str], bool]
) -> None:
    """Refuses with `ValueError` to forward to nothing, or in a circle of one.

    Args:
        path: The queue, or the topic of a subscription.
        properties: Its properties.
        is_there: Whether there is a queue or topic of a name in lower case.
    """
    for name in ("forward_to", "forward_dead_lettered_messages_to"):
        target = getattr(properties, name)
        if not target:
            continue
        try:
            address = Address.parse(target)
        except AmqpError as error:
            raise ValueError(f"{name}: {error.description}") from error
        if address.key == path.lower():
            raise ValueError(f"{name}: {path!r} cannot forward to itself")
        if not is_there(address.key):
            raise ValueError(f"{name}: there is no {address.entity!r} to forward to")
