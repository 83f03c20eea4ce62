"""How what a sender chose, or an event says, is shown in log lines and on spans."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar, assert_never

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter, Hold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from idempotent_consumer.core.decide import Settlement

MAX_TEXT = 256
"""Characters of a text that a sender chose; a key may be as long as a body."""

ShowKey = Callable[[str | None], str | None]
Value = TypeVar("Value")


def shortened(text: str | None) -> str | None:
    """As much of it as is shown, in legal Unicode: an exporter may lose a batch over less."""
    if text is None:
        return None
    return text[:MAX_TEXT].encode(errors="backslashreplace").decode()


def digest(key: str | None) -> str | None:
    """``sha256:`` and the first 16 hex digits of the key's SHA-256."""
    if key is None:
        return None
    return f"sha256:{sha256(key.encode(errors='surrogatepass')).hexdigest()[:16]}"


def settlement_name(settlement: Settlement) -> str:
    """What the broker was told."""
    match settlement:
        case Complete():
            return "complete"
        case DeadLetter():
            return "dead_letter"
        case Abandon():
            return "abandon"
        case Hold():
            return "hold"
        case _:
            assert_never(settlement)


def reason_name(settlement: Settlement) -> str | None:
    """The reason of a dead letter."""
    return settlement.reason.value if isinstance(settlement, DeadLetter) else None


def present(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Without what would say nothing."""
    return {name: value for name, value in values.items() if value is not None and value != ""}
