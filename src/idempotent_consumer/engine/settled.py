"""What became of a settlement: the broker's answer, as far as there is one."""

from __future__ import annotations

from enum import StrEnum


class Settled(StrEnum):
    """What became of a settlement."""

    CONFIRMED = "confirmed"
    LOCK_LOST = "lock lost"
    """The lock was gone: settled all the same, or to be delivered again. Nobody knows."""
    UNKNOWN = "unknown"
    """No answer; the message may be delivered again."""
