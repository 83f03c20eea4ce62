"""The request hash: a digest of what a message asks for, to tell a copy from a change.

It covers the message's type (its Subject), declared application properties, and the body
or a chosen part of it. The digest is SHA-256 over the UTF-8 of one canonical JSON array,
``[type, {property: value}, body]``. Of a CloudEvent these are ``[type, subject]``, declared
attributes and the data: what a sender or a hop may change in a copy does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from idempotent_consumer.core.canonical import canonical, canonical_object
from idempotent_consumer.core.pointers import ABSENT, Pointer, checked_pointers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from idempotent_consumer.core.delivery import JsonObject, JsonValue
    from idempotent_consumer.core.payload import Payload

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
        properties: Application properties, or attributes of a CloudEvent, that belong to
            what is asked for.

    Raises:
        ValueError: ``only`` and ``without`` are both given, ``only`` is empty, a pointer is
            none, or a single text stands where a list belongs.
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
        if isinstance(properties, str):
            raise ValueError(f"write a list, properties=[{properties!r}]")
        object.__setattr__(self, "without", checked_pointers(without))
        object.__setattr__(self, "only", None if only is None else checked_pointers(only))
        object.__setattr__(self, "properties", tuple(properties))

    def content(self, payload: Payload) -> Content:
        """What is covered of this payload."""
        declared = {
            name: _plain(value)
            for name, value in payload.properties.items()
            if name in self.properties
        }
        chosen = self._choose(payload.body)
        return Content(
            type=canonical(payload.hashed_type),
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

    @property
    def is_empty(self) -> bool:
        """Whether nothing of body and properties is covered."""
        return not self.fields and self.properties == "{}"

    def digest(self) -> str:
        """The digest of all of it, in hex."""
        text = f"[{self.type},{self.properties},{canonical_object(self.fields)}]"
        return sha256(text.encode()).hexdigest()

    def field_digests(self, salt: str) -> dict[str, str]:
        """A short digest of each field, so that a mismatch can name those that differ.

        The salt keeps equal values of different records from showing as equal.
        """
        return self._digests(sorted(self.fields)[:MAX_NAMED_FIELDS], salt)

    def differing(self, recorded: Mapping[str, str], salt: str) -> list[str]:
        """The names of fields that the field digests of a record contradict.

        A field that the record lacks is one, unless the record is full.
        """
        is_full = len(recorded) >= MAX_NAMED_FIELDS
        names = recorded.keys() if is_full else recorded.keys() | self.fields.keys()
        received = self._digests(names, salt)
        return sorted(name for name in names if recorded.get(name) != received.get(name))

    def _digests(self, names: Iterable[str], salt: str) -> dict[str, str]:
        here = (name for name in names if name in self.fields)
        return {name: _short(f"{salt}\n{name}\n{self.fields[name]}") for name in here}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHash:
    """A digest with all that is needed to make it again from another message."""

    tag: str
    selection: Selection
    digest: str


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def _plain(value: object) -> JsonValue:
    """A property's value in JSON; types that JSON lacks go by their text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)
