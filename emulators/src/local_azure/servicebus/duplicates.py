"""Duplicate detection: which MessageIds a queue has seen lately."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class History:
    """The MessageIds of a window, for duplicate detection."""

    _seen: deque[tuple[float, str]] = field(default_factory=deque)
    _ids: set[str] = field(default_factory=set)

    def is_new(self, message_id: str, now: float, window: float) -> bool:
        """Whether it has not been sent within the window; it has from now on."""
        while self._seen and self._seen[0][0] + window <= now:
            self._ids.discard(self._seen.popleft()[1])
        if message_id in self._ids:
            return False
        self._ids.add(message_id)
        self._seen.append((now, message_id))
        return True
