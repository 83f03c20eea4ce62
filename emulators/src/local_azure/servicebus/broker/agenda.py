"""What is due when."""

from __future__ import annotations

import itertools
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

T = TypeVar("T", bound="Hashable")
NEVER = float("inf")
_SLACK = 64


class Agenda(Generic[T]):
    """Things to come, by time; those of the same moment in the order they were added.

    Its size is bounded by the number of things that are still to come.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, T]] = []
        self._orders: dict[T, int] = {}
        self._count = itertools.count()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, moment: float, what: T) -> None:
        """Something will be due then, and no longer when it was to be before."""
        if moment == NEVER:
            self.cancel(what)
            return
        order = self._orders[what] = next(self._count)
        heappush(self._entries, (moment, order, what))
        self._tidy()

    def cancel(self, what: T) -> None:
        """Something will not be due, if it was to be."""
        if self._orders.pop(what, None) is not None:
            self._tidy()

    def next(self) -> float:
        """When something is due next; infinity for never."""
        while self._entries and not self._counts(self._entries[0]):
            heappop(self._entries)
        return self._entries[0][0] if self._entries else NEVER

    def due(self, now: float) -> Iterator[T]:
        """Takes out what is due by now, also what becomes so in the meantime."""
        while self.next() <= now:
            _, _, what = heappop(self._entries)
            del self._orders[what]
            yield what

    def _counts(self, entry: tuple[float, int, T]) -> bool:
        _, order, what = entry
        return self._orders.get(what) == order

    def _tidy(self) -> None:
        if len(self._entries) > 2 * len(self._orders) + _SLACK:
            self._entries = list(filter(self._counts, self._entries))
            heapify(self._entries)
