"""The order in which messages are received."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

Line = str | None
"""A session's id; ``None`` for the one line of a queue without sessions."""


class Backlog:
    """Sequence numbers of messages to receive, lowest first, each line by itself.

    Args:
        alive: Numbers that still count; others are dropped when they come to the front.
    """

    def __init__(self, alive: Container[int]) -> None:
        self._alive = alive
        self._lines: dict[Line, list[tuple[int, int]]] = {}

    def add(self, line: Line, number: int) -> None:
        """Puts a number where it belongs in its line."""
        self._put(line, number, number)

    def first(self, line: Line) -> int | None:
        """The number at the front of a line."""
        places = self._lines.get(line)
        while places and places[0][1] not in self._alive:
            heappop(places)
        if not places:
            self._lines.pop(line, None)
            return None
        return places[0][1]

    def take(self, line: Line) -> None:
        """Removes the number that `first` has shown."""
        heappop(self._lines[line])

    def overtake(self, line: Line) -> None:
        """Lets the first two numbers of a line change places, where there are two."""
        if self.first(line) is None:
            return
        place, first = heappop(self._lines[line])
        second = self.first(line)
        if second is None:
            self._put(line, place, first)
            return
        next_place, _ = heappop(self._lines[line])
        self._put(line, place, second)
        self._put(line, next_place, first)

    def _put(self, line: Line, place: int, number: int) -> None:
        heappush(self._lines.setdefault(line, []), (place, number))

    def fronts(self) -> dict[Line, int]:
        """The lines that are not empty, each with the number at its front."""
        firsts = {line: self.first(line) for line in list(self._lines)}
        return {line: first for line, first in firsts.items() if first is not None}
