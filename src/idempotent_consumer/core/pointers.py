"""JSON pointers (RFC 6901): how keys, hashes and immutable fields name a place in a body."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from idempotent_consumer.core.delivery import JsonObject, JsonValue


class Absence(Enum):
    """That nothing stands at a place; ``None`` is JSON's null."""

    ABSENT = auto()


ABSENT: Final = Absence.ABSENT


class Pointer:
    """One JSON pointer, such as ``/customer/id``; the whole document is not one.

    Raises:
        ValueError: The text is no JSON pointer to a place inside an object.
    """

    __slots__ = ("_steps", "text")

    def __init__(self, text: str) -> None:
        if not text.startswith("/"):
            raise ValueError(f"{text!r} is no JSON pointer: write it like '/orderId'")
        self.text = text
        self._steps = tuple(_unescape(step) for step in text[1:].split("/"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pointer) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Pointer({self.text!r})"

    def find(self, document: JsonObject) -> JsonValue | Absence:
        """The value at this place, or ``ABSENT``."""
        value: JsonValue | Absence = document
        for step in self._steps:
            value = _descend(value, step)
        return value

    def put(self, document: JsonObject, value: JsonValue) -> None:
        """Writes the value at this place; objects on the way are made where absent."""
        for step in self._steps[:-1]:
            inner = document.setdefault(step, {})
            if not isinstance(inner, dict):
                raise TypeError(f"{self.text} leads through something that is no object")
            document = inner
        document[self._steps[-1]] = value

    def without(self, document: JsonObject) -> JsonObject:
        """The document less this place; the one given stays as it is."""
        return _object_without(document, *self._steps)


def checked_pointers(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts, each of which is a pointer.

    Raises:
        ValueError: One is none, or there is a single text where a list belongs.
    """
    if isinstance(texts, str):
        raise ValueError(f"write a list, [{texts!r}]")
    for text in texts:
        Pointer(text)
    return tuple(texts)


def _unescape(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _descend(value: JsonValue | Absence, step: str) -> JsonValue | Absence:
    if isinstance(value, dict):
        return value.get(step, ABSENT)
    if isinstance(value, list) and step.isdecimal() and str(int(step)) == step:
        return value[int(step)] if int(step) < len(value) else ABSENT
    return ABSENT


def _without(value: JsonValue, steps: tuple[str, ...]) -> JsonValue:
    if not steps or _descend(value, steps[0]) is ABSENT:
        return value
    if isinstance(value, list):
        return _list_without(value, int(steps[0]), *steps[1:])
    return _object_without(value, *steps) if isinstance(value, dict) else value


def _object_without(document: JsonObject, first: str, *rest: str) -> JsonObject:
    if rest and first in document:
        return {**document, first: _without(document[first], rest)}
    if rest:
        return document
    return {name: value for name, value in document.items() if name != first}


def _list_without(values: list[JsonValue], place: int, *rest: str) -> list[JsonValue]:
    kept = [_without(values[place], rest)] if rest else []
    return [*values[:place], *kept, *values[place + 1 :]]
