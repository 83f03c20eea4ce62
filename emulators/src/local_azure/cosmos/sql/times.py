"""The functions that tell the time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local_azure.cosmos.sql.values import Value

_TICKS_A_SECOND: Final = 10_000_000


def _date_time(now: float) -> Value:
    """In the service's form, with seven digits of a second."""
    text = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return f"{text}0Z"


TIMES: Final[Mapping[str, Callable[[float], Value]]] = {
    "GETCURRENTDATETIME": _date_time,
    "GETCURRENTTICKS": lambda now: int(now * _TICKS_A_SECOND),
    "GETCURRENTTIMESTAMP": lambda now: int(now * 1000),
}
"""From seconds since the epoch to a result."""
