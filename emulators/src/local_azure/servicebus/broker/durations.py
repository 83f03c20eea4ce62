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
    try:
        return timedelta(**{unit: float(n) for unit, n in parsed.groupdict().items() if n})
    except OverflowError as error:
        raise ValueError(f"{text!r} is longer than any duration") from error


def format_duration(duration: timedelta) -> str:
    """The text of a duration, without the units of which it has none."""
    days = f"{duration.days}D" if duration.days else ""
    minutes, seconds = divmod(duration.seconds, 60)
    exact = f"{seconds}.{duration.microseconds:06}".rstrip("0").rstrip(".")
    counts = zip((minutes // 60, minutes % 60, exact), "HMS", strict=True)
    time = "".join(f"{count}{unit}" for count, unit in counts if count not in (0, "0"))
    return f"P{days}T{time}" if time else f"P{days or 'T0S'}"
