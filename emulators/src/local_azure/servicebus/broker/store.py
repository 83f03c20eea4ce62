"""The messages that a queue has, by number; what may become of them is the queue's to say."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Generic

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.limits import check_content
from local_azure.servicebus.broker.message import C, Message, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from local_azure.servicebus.broker.fields import Changes


class Store(Generic[C]):
    """Messages in the order of their sequence numbers.

    Attributes:
        by_number: The messages.
        size: Bytes of all of them.
    """

    def __init__(self) -> None:
        self.by_number: dict[int, Message[C]] = {}
        self.size = 0
        self._last_number = 0

    def number(self) -> int:
        """The sequence number for the next message to `add`."""
        self._last_number += 1
        return self._last_number

    def add(self, message: Message[C]) -> None:
        """Takes a message in."""
        self.by_number[message.sequence_number] = message
        self.size += message.content.size

    def remove(self, message: Message[C]) -> None:
        """Forgets a message."""
        del self.by_number[message.sequence_number]
        self.size -= message.content.size

    def change(self, message: Message[C], changes: Changes) -> None:
        """Changes properties of a message; raises `AmqpError` if it cannot have them."""
        if not changes.system and not changes.user:
            return
        before, after = message.content, message.content.changed(changes)
        check_content(after)
        message.content = after
        self.size += after.size - before.size

    def count(self, state: State) -> int:
        """How many messages are in a state and not locked."""
        messages = self.by_number.values()
        return sum(message.state is state and message.lock is None for message in messages)

    def found(self, state: State, numbers: Iterable[int]) -> list[Message[C]]:
        """The messages of these numbers.

        Raises:
            AmqpError: One of them is not there, in another state or locked.
        """
        messages = [self.by_number.get(number) for number in dict.fromkeys(numbers)]
        found = [m for m in messages if m is not None and m.state is state and m.lock is None]
        if len(found) < len(messages):
            raise not_found()
        return found

    def first(self, count: int, wanted: Callable[[Message[C]], bool]) -> list[Message[C]]:
        """The first messages that are wanted."""
        some = min(count, len(self.by_number))
        return list(islice(filter(wanted, self.by_number.values()), some))


def not_found() -> AmqpError:
    """The refusal of an operation on a message that is not there, or not in that state."""
    return AmqpError(
        "com.microsoft:message-not-found",
        "Failed to lock one or more specified messages. The message does not exist.",
    )
