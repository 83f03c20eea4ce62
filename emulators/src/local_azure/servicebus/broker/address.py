"""Addresses: which node of the namespace a link leads to."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from local_azure.servicebus.amqp.errors import AmqpError

_MANAGEMENT = "/$management"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A parsed address.

    Attributes:
        entity: The path of the queue or dead-letter queue, as the client wrote it.
        management: It is the node that answers requests about the entity.
    """

    entity: str
    management: bool = False

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads a path, or a URL that has one.

        Raises:
            AmqpError: It is a URL that cannot be read.
        """
        path = (_path_of(text) if "://" in text else text).strip("/")
        if path.lower().endswith(_MANAGEMENT):
            return cls(entity=path[: -len(_MANAGEMENT)], management=True)
        return cls(entity=path)

    @property
    def key(self) -> str:
        """What the entity is found by: case does not matter."""
        return self.entity.lower()

    @property
    def path(self) -> str:
        """The whole path in the namespace."""
        return self.entity + (_MANAGEMENT if self.management else "")


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError as error:
        raise AmqpError("amqp:invalid-field", f"The address is no URL: {error}.") from error
