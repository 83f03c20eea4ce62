"""What is due when."""

from __future__ import annotations

import itertools
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
NEVER = float("inf")


class Agenda(Generic[T]):
    """Things to come, by time; those of the same moment in the order they were added."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, T]] = []
        self._order = itertools.count()

    def add(self, moment: float, what: T) -> None:
        """Something will be due then; whether it still matters is for `due`'s caller to see."""
        if moment != NEVER:
            heappush(self._entries, (moment, next(self._order), what))

    def next(self) -> float:
        """When something is due next; infinity for never."""
        return self._entries[0][0] if self._entries else NEVER

    def due(self, now: float) -> Iterator[T]:
        """Takes out what is due by now, also what becomes so in the meantime."""
        while self.next() <= now:
            yield heappop(self._entries)[2]
