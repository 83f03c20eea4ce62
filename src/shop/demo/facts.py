"""What is known of a scene, as values: what must come of it, and what came."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery, as worker and broker tell of it.

    Attributes:
        outcome: What the worker logged; empty if it did not live to.
        cause: Likewise.
        settlement: How the delivery ended at the broker; empty if it has not.
        reason: The dead-letter reason.
    """

    outcome: str = ""
    cause: str = ""
    settlement: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What happened in a scene.

    Attributes:
        dropped: Copies that the broker's duplicate detection took and threw away.
        store_calls: The requests for the scene's documents that reached Cosmos DB, each
            with the status it was answered.
        documents: So many of the scene's orders are stored.
    """

    deliveries: tuple[Delivery, ...] = ()
    dropped: int = 0
    store_calls: tuple[str, ...] = ()
    documents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A scene that was played.

    Attributes:
        stalled: What the scene waited for in vain; empty if it was played to its end.
    """

    title: str
    expected: Facts
    actual: Facts
    stalled: str = ""

    @property
    def is_right(self) -> bool:
        """Whether everything came as it must."""
        return not self.differences

    @property
    def differences(self) -> list[str]:
        """What did not come as it must, in words."""
        found = [f"waited in vain for {self.stalled}"] if self.stalled else []
        for field in fields(Facts):
            expected, actual = (
                getattr(facts, field.name) for facts in (self.expected, self.actual)
            )
            found += _compared(field.name, expected, actual)
        return found

    def as_json(self) -> dict[str, Any]:
        """The row for machines."""
        return {**asdict(self), "right": self.is_right}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message in the dead-letter queue, as a receiver sees it."""

    message_id: str | None
    reason: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How the whole story went.

    Attributes:
        stored: The documents, as they are in the container.
        seconds: How long it took, by the machine's clock.
    """

    rows: tuple[Row, ...]
    stored: tuple[dict[str, Any], ...]
    dead_letters: tuple[DeadLetter, ...]
    seconds: float

    @property
    def problems(self) -> list[str]:
        """What did not come as it must, in words."""
        found = [f"{row.title}: {text}" for row in self.rows for text in row.differences]
        buried = [one.reason for row in self.rows for one in row.expected.deliveries if one.reason]
        there = [letter.reason for letter in self.dead_letters]
        return found + _compared("dead-letter queue", buried, there)

    def as_json(self) -> dict[str, Any]:
        """The report for machines."""
        return {
            "right": not self.problems,
            "seconds": round(self.seconds, 1),
            "rows": [row.as_json() for row in self.rows],
            "stored": list(self.stored),
            "dead_letters": [asdict(letter) for letter in self.dead_letters],
            "problems": self.problems,
        }


def _compared(name: str, expected: object, actual: object) -> list[str]:
    """What is wrong, if anything is."""
    if expected == actual:
        return []
    return [f"{name}: expected {_plain(expected)}, actual {_plain(actual)}"]


def _plain(value: object) -> str:
    """A value for people; what is empty in it is left out."""
    match value:
        case Delivery():
            return " ".join(filter(None, asdict(value).values())) or "not settled"
        case tuple() | list():
            return "; ".join(map(_plain, value)) or "none"
        case _:
            return str(value)
