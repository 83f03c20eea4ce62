"""Duplicate detection: which MessageIds a queue has seen lately."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(slots=True)
class History:
    """The MessageIds of a window, for duplicate detection."""

    _seen: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def is_new(self, message_id: str, now: float, window: float) -> bool:
        """Whether it has not been sent within the window; it has from now on."""
        while self._seen and next(iter(self._seen.values())) + window <= now:
            self._seen.popitem(last=False)
        if message_id in self._seen:
            return False
        self._seen[message_id] = now
        return True

    def forget(self, message_id: str) -> None:
        """Makes an id new again."""
        self._seen.pop(message_id, None)
