"""ISO 8601 durations, as configurations write them."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(
    r"P(?=[\dT])(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)


def parse_duration(text: object) -> timedelta:
    """A duration of days, hours, minutes and seconds.

    Raises:
        ValueError: It is none.
    """
    parsed = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if parsed is None:
        raise ValueError(f"{text!r} is no ISO 8601 duration")
    return timedelta(**{unit: float(n) for unit, n in parsed.groupdict().items() if n})


def format_duration(duration: timedelta) -> str:
    """The text of a duration, in days and seconds."""
    seconds = f"{duration.seconds + duration.microseconds / 1e6:.6f}".rstrip("0").rstrip(".")
    return f"P{duration.days}DT{seconds}S"
