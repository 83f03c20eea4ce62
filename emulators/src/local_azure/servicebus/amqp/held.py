"""What a connection makes the server keep for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.servicebus.amqp.errors import AmqpError

if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 16 * 1024 * 1024


class Held:
    """Counts the bytes that wait for the client: for the rest of a message, or for room.

    Args:
        on_room: Called when there is room again.
        limit: The bytes at which there is none.

    Attributes:
        full: There is no room; what is whole may still go through.
    """

    def __init__(self, on_room: Callable[[], None], limit: int = _LIMIT) -> None:
        self.full = False
        self._on_room = on_room
        self._limit = limit
        self._bytes = 0

    def add(self, size: int) -> None:
        """So many more wait."""
        self._bytes += size
        self.full = self._bytes >= self._limit

    def free(self, size: int) -> None:
        """So many wait no longer."""
        was_full = self.full
        self._bytes -= size
        self.full = self._bytes >= self._limit
        if was_full and not self.full:
            self._on_room()


def too_much_held() -> AmqpError:
    """The refusal of a client that makes the server keep too much."""
    return AmqpError(
        "amqp:resource-limit-exceeded",
        f"Over {_LIMIT} bytes of the connection wait for the client to go on.",
    )
