"""The order in which messages are received."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

Line = str | None
"""A session's id; ``None`` for the one line of a queue without sessions."""

_SLACK = 64


class Backlog:
    """Sequence numbers of messages to receive, lowest first, each line by itself.

    Its size is bounded by the count of numbers that are alive.

    Args:
        alive: Numbers that still count; others are dropped when they come to the front.
    """

    def __init__(self, alive: Collection[int]) -> None:
        self._alive = alive
        self._lines: dict[Line, list[tuple[int, int]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, line: Line, number: int) -> None:
        """Puts a number where it belongs in its line."""
        self._put(line, number, number)
        if self._count > 2 * len(self._alive) + _SLACK:
            self._tidy()

    def first(self, line: Line) -> int | None:
        """The number at the front of a line."""
        places = self._lines.get(line)
        while places and places[0][1] not in self._alive:
            self._pop(places)
        if not places:
            self._lines.pop(line, None)
            return None
        return places[0][1]

    def take(self, line: Line) -> None:
        """Removes the number that `first` has shown."""
        self._pop(self._lines[line])

    def second(self, line: Line) -> int | None:
        """The number behind the front of a line."""
        if self.first(line) is None:
            return None
        front = self._pop(self._lines[line])
        second = self.first(line)
        self._put(line, *front)
        return second

    def overtake(self, line: Line) -> None:
        """Lets the first two numbers of a line change places, where there are two."""
        if self.second(line) is not None:
            places = self._lines[line]
            (place, first), (next_place, second) = self._pop(places), self._pop(places)
            self._put(line, place, second)
            self._put(line, next_place, first)

    def fronts(self) -> dict[Line, int]:
        """The lines that are not empty, each with the number at its front."""
        firsts = {line: self.first(line) for line in list(self._lines)}
        return {line: first for line, first in firsts.items() if first is not None}

    def _put(self, line: Line, place: int, number: int) -> None:
        heappush(self._lines.setdefault(line, []), (place, number))
        self._count += 1

    def _pop(self, places: list[tuple[int, int]]) -> tuple[int, int]:
        self._count -= 1
        return heappop(places)

    def _tidy(self) -> None:
        for line, places in list(self._lines.items()):
            places[:] = [place for place in places if place[1] in self._alive]
            heapify(places)
            if not places:
                del self._lines[line]
        self._count = sum(map(len, self._lines.values()))
