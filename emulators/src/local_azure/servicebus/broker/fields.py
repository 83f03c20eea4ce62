"""The properties of a message, as rules see and change them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM_PROPERTIES = (
    "MessageId",
    "To",
    "Label",
    "ReplyTo",
    "CorrelationId",
    "ContentType",
    "SessionId",
    "ReplyToSessionId",
)
"""The properties of the broker's that rules know; case does not matter in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What rules can look at.

    Attributes:
        system: The broker's properties by the names of `SYSTEM_PROPERTIES`, where set.
        user: The sender's properties.
    """

    system: Mapping[str, object]
    user: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """New values of properties; ``None`` removes one."""

    system: Mapping[str, object] = field(default_factory=dict)
    user: Mapping[str, object] = field(default_factory=dict)
