"""Within which limits properties may be; who sets them decides which limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from local_azure.servicebus.broker.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

EntityStatus = Literal["Active", "Disabled", "SendDisabled", "ReceiveDisabled"]


@dataclass(frozen=True, slots=True)
class Range:
    """From the least to the most that a duration or number may be, both allowed."""

    least: timedelta | int
    most: timedelta | int | None = None

    def checked(self, value: object) -> Any:
        """The value, or `ValueError` if it is not within the range."""
        kind = type(self.least)
        if not isinstance(value, kind) or isinstance(value, bool):
            named = "duration (timedelta)" if kind is timedelta else "whole number"
            raise ValueError(f"{value!r} is no {named}")
        if value < self.least:  # type: ignore[operator] # of one kind, see above
            raise ValueError(f"{_text(value)} is not {self}")
        if self.most is not None and value > self.most:  # type: ignore[operator]
            raise ValueError(f"{_text(value)} is not {self}")
        return value

    def __str__(self) -> str:
        """The legal range, for people."""
        if self.most is None:
            return f"{_text(self.least)} or more"
        return f"within {_text(self.least)} to {_text(self.most)}"


def _text(value: object) -> str:
    return format_duration(value) if isinstance(value, timedelta) else str(value)


_MOMENT: Final = timedelta(milliseconds=1)
_LONGEST_LOCK: Final = timedelta(minutes=5)
_LONGEST_WINDOW: Final = timedelta(days=7)

FROM_PYTHON: Final[Mapping[str, Range]] = {
    "default_message_time_to_live": Range(_MOMENT),
    "duplicate_detection_history_time_window": Range(_MOMENT, _LONGEST_WINDOW),
    "max_size_in_megabytes": Range(1),
    "lock_duration": Range(_MOMENT, _LONGEST_LOCK),
    "max_delivery_count": Range(1),
}
"""What the emulator can do: the service's limits, but as short as a test may want."""

FROM_CONFIG: Final[Mapping[str, Range]] = {
    "default_message_time_to_live": Range(timedelta(minutes=5), timedelta(hours=1)),
    "duplicate_detection_history_time_window": Range(timedelta(seconds=5), timedelta(minutes=5)),
    "lock_duration": Range(timedelta(seconds=5), _LONGEST_LOCK),
    "max_delivery_count": Range(1, 10),
}
"""What Microsoft's emulator takes."""

FROM_MANAGEMENT: Final[Mapping[str, Range]] = {
    "default_message_time_to_live": Range(timedelta(seconds=1)),
    "duplicate_detection_history_time_window": Range(timedelta(seconds=20), _LONGEST_WINDOW),
    "max_size_in_megabytes": Range(1024, 5120),
    "lock_duration": Range(timedelta(seconds=5), _LONGEST_LOCK),
    "max_delivery_count": Range(1),
    "auto_delete_on_idle": Range(timedelta(minutes=5)),
}
"""What the service takes."""


def flag(value: object) -> bool:
    """True or false, or `ValueError`."""
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def status(value: object) -> str:
    """One of the states of an entity, or `ValueError`."""
    states = get_args(EntityStatus)
    if not isinstance(value, str) or value not in states:
        raise ValueError(f"{value!r} is none of {', '.join(states)}")
    return value


def optional_name(value: object) -> str | None:
    """A name or nothing, or `ValueError`."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{value!r} is no name")
    return value or None
