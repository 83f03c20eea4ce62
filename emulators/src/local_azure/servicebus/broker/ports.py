"""What a queue needs of its surroundings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from local_azure.servicebus.broker.message import Content

if TYPE_CHECKING:
    from local_azure.servicebus.broker.message import Message

_C = TypeVar("_C", bound=Content)


class Listener(Protocol):
    """Who hands a queue's messages out. Called inside of operations: must only take note."""

    def available(self) -> None:
        """There are messages to receive, perhaps after a while without any."""

    def session_lost(self) -> None:
        """The time of a session's lock is up."""


class Nobody:
    """The listener of a queue that nobody receives from."""

    def available(self) -> None:
        """Nobody cares."""

    def session_lost(self) -> None:
        """Nobody cares."""


class Outlet(Protocol[_C]):
    """Where a queue's messages go instead of waiting in it for a receiver."""

    def deliver(self, message: Message[_C], now: float) -> None:
        """Takes a message over; raises `AmqpError` where it cannot."""
