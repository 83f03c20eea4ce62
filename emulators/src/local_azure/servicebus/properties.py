"""What a queue is configured to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueProperties:
    """The properties of a queue; the defaults are those of Microsoft's emulator."""

    lock_duration: timedelta = timedelta(minutes=1)
    max_delivery_count: int = 3
    default_message_time_to_live: timedelta = timedelta(hours=1)
    dead_lettering_on_message_expiration: bool = False
    requires_duplicate_detection: bool = False
    duplicate_detection_history_time_window: timedelta = timedelta(seconds=20)
