"""What identifies a message: where its key stands, and which keys are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from idempotent_consumer.core.canonical import canonical
from idempotent_consumer.core.pointers import ABSENT, Pointer
from idempotent_consumer.core.reasons import Reason, Rejected

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.payload import Payload

MAX_BYTES = 2048
"""What Cosmos DB takes as a partition value, which a key becomes."""

_NOBODYS = frozenset({"none", "null", "nil", "undefined", "nan", "object object", "0" * 32})
"""What broken senders put in every message: under one such key, different orders are one."""

_FRAMES = " \t\r\n\"'()<>[]{}"
"""What they put around it."""


@dataclass(frozen=True, slots=True)
class MessageId:
    """The broker's MessageId. The default."""

    def find(self, delivery: Delivery, _payload: Payload) -> object:
        return delivery.message_id

    def __str__(self) -> str:
        return "MessageId"


@dataclass(frozen=True, slots=True)
class Property:
    """An application property."""

    name: str

    def find(self, delivery: Delivery, _payload: Payload) -> object:
        return delivery.properties.get(self.name)

    def __str__(self) -> str:
        return f"property {self.name}"


@dataclass(frozen=True, slots=True)
class BodyField:
    """A place in the body, or in the data of a CloudEvent: ``BodyField("/orderId")``."""

    pointer: str

    def __post_init__(self) -> None:
        Pointer(self.pointer)

    def find(self, _delivery: Delivery, payload: Payload) -> object:
        value = Pointer(self.pointer).find(payload.body)
        return None if value is ABSENT else value

    def __str__(self) -> str:
        return f"{self.pointer} of the body"


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """Source and id of a CloudEvent, which identify it together."""

    def find(self, _delivery: Delivery, payload: Payload) -> object:
        event = payload.event
        if event is None:
            raise Rejected("the message is no CloudEvent", reason=Reason.INVALID_CLOUD_EVENT)
        return canonical([event.source, _usable(event.id, self)])

    def __str__(self) -> str:
        return "id of the CloudEvent"


Key = MessageId | Property | BodyField | CloudEvent
"""Where the key of a message stands."""


def key_of(where: Key, delivery: Delivery, payload: Payload) -> str:
    """The message's key: text, or an integer in its decimal digits.

    Raises:
        Rejected: ``MissingMessageId``, ``InvalidMessageId``, ``InvalidCloudEvent`` or
            ``TooLarge``.
    """
    value = where.find(delivery, payload)
    if value is None:
        raise Rejected(f"the message has no {where}", reason=Reason.MISSING_MESSAGE_ID)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Rejected(f"the {where} is neither text nor integer", reason=Reason.INVALID_MESSAGE_ID)
    return _usable(str(value), where)


def _bare(key: str) -> str:
    """The key less its frame, and a GUID less its hyphens."""
    bare = key.strip(_FRAMES).lower().removeprefix("urn:uuid:")
    return bare.replace("-", "")


def _usable(key: str, where: Key) -> str:
    if not key.strip():
        raise Rejected(f"the {where} is blank", reason=Reason.MISSING_MESSAGE_ID)
    if _bare(key) in _NOBODYS:
        raise Rejected(
            f"the {where} is one that unrelated messages share", reason=Reason.INVALID_MESSAGE_ID
        )
    try:
        length = len(key.encode())
    except UnicodeEncodeError:
        raise Rejected(
            f"the {where} is not Unicode text", reason=Reason.INVALID_MESSAGE_ID
        ) from None
    if length > MAX_BYTES:
        raise Rejected(f"the {where} exceeds {MAX_BYTES} bytes", reason=Reason.TOO_LARGE)
    return key
