"""The request hash: a digest of what a message asks for, to tell a copy from a change.

It covers the message's type (its Subject), declared application properties, and the body
or a chosen part of it. The digest is SHA-256 over the UTF-8 of one canonical JSON array,
``[type, {property: value}, body]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from idempotent_consumer.core.canonical import canonical, canonical_object
from idempotent_consumer.core.pointers import ABSENT, Pointer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from idempotent_consumer.core.delivery import JsonObject, JsonValue

TAG = "sha256:jcs1"
"""Names the digest and the canonical form; a record with another tag is not comparable."""

MAX_NAMED_FIELDS = 100
"""So many fields of a body get a digest of their own in the marker."""


@dataclass(frozen=True, slots=True, init=False)
class Selection:
    """What of a message the request hash covers: everything, unless told otherwise.

    Args:
        without: JSON pointers into the body that say nothing about what is asked for,
            such as the time of sending.
        only: JSON pointers into the body that say all; the rest is not compared.
        properties: Application properties that belong to what is asked for.

    Raises:
        ValueError: ``only`` and ``without`` are both given, ``only`` is empty, or a
            pointer is none.
    """

    without: tuple[str, ...]
    only: tuple[str, ...] | None
    properties: tuple[str, ...]

    def __init__(
        self,
        *,
        without: Sequence[str] = (),
        only: Sequence[str] | None = None,
        properties: Sequence[str] = (),
    ) -> None:
        if only is not None and (without or not only):
            raise ValueError("name at least one field in only=, and then nothing in without=")
        for text in (*without, *(only or ())):
            Pointer(text)
        object.__setattr__(self, "without", tuple(without))
        object.__setattr__(self, "only", None if only is None else tuple(only))
        object.__setattr__(self, "properties", tuple(properties))

    def content(
        self, message_type: str | None, properties: Mapping[str, object], body: JsonObject
    ) -> Content:
        """What is covered of this message."""
        declared = {
            name: _plain(value) for name, value in properties.items() if name in self.properties
        }
        chosen = self._choose(body)
        return Content(
            type=canonical(message_type),
            properties=canonical(declared),
            fields={name: canonical(value) for name, value in chosen.items()},
        )

    def _choose(self, body: JsonObject) -> JsonObject:
        if self.only is not None:
            found = {text: Pointer(text).find(body) for text in self.only}
            return {text: value for text, value in found.items() if value is not ABSENT}
        for text in self.without:
            body = Pointer(text).without(body)
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The canonical texts of what a request hash covers.

    Attributes:
        fields: By top-level name of the body, or by pointer where those were chosen.
    """

    type: str
    properties: str
    fields: dict[str, str]

    def digest(self) -> str:
        """The digest of all of it, in hex."""
        text = f"[{self.type},{self.properties},{canonical_object(self.fields)}]"
        return sha256(text.encode()).hexdigest()

    def field_digests(self, salt: str) -> dict[str, str]:
        """A short digest of each field, so that a mismatch can name those that differ.

        The salt keeps equal values of different records from showing as equal.
        """
        named = sorted(self.fields)[:MAX_NAMED_FIELDS]
        return {name: _short(f"{salt}\n{name}\n{self.fields[name]}") for name in named}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHash:
    """A digest with all that is needed to make it again from another message."""

    tag: str
    selection: Selection
    digest: str


def differing(recorded: Mapping[str, str], received: Mapping[str, str]) -> list[str]:
    """The names whose field digests differ, or that only one side has."""
    names = recorded.keys() | received.keys()
    return sorted(name for name in names if recorded.get(name) != received.get(name))


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def _plain(value: object) -> JsonValue:
    """A property's value in JSON; types that JSON lacks go by their text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)
