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
        self._lines: dict[Line, list[int]] = {}

    def add(self, line: Line, number: int) -> None:
        """Puts a number where it belongs in its line."""
        heappush(self._lines.setdefault(line, []), number)

    def first(self, line: Line) -> int | None:
        """The number at the front of a line."""
        numbers = self._lines.get(line)
        while numbers and numbers[0] not in self._alive:
            heappop(numbers)
        if not numbers:
            self._lines.pop(line, None)
            return None
        return numbers[0]

    def take(self, line: Line) -> None:
        """Removes the number that `first` has shown."""
        heappop(self._lines[line])

    def fronts(self) -> dict[Line, int]:
        """The lines that are not empty, each with the number at its front."""
        firsts = {line: self.first(line) for line in list(self._lines)}
        return {line: first for line, first in firsts.items() if first is not None}
