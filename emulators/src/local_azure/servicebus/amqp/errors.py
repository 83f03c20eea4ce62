"""What AMQP calls errors: a condition and a description for people."""

from __future__ import annotations


class AmqpError(Exception):
    """An error that is sent to the peer.

    Attributes:
        condition: The symbol that programs act on, such as ``amqp:not-found``.
        description: The text for people.
    """

    def __init__(self, condition: str, description: str) -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description


class DecodeError(AmqpError):
    """Bytes that are not what the specification says they should be."""

    def __init__(self, description: str) -> None:
        super().__init__("amqp:decode-error", description)
