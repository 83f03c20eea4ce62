"""The properties of a queue that matter: what is wanted of each, and how one sets it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.doctor.facts import DeployedQueue

Value = bool | int | timedelta

FOREVER = timedelta(days=10675199, hours=2, minutes=48, seconds=5, microseconds=477580)
"""The longest duration that Service Bus knows, by which it says that there is no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One of them.

    Attributes:
        option: Of ``az servicebus queue``.
        key: In an emulator's ``Config.json``; empty where no emulator has it.
        fixed: At the creation of the queue.
    """

    name: str
    option: str
    key: str
    deployed: Callable[[DeployedQueue], Value]
    wanted: Callable[[Profile], Value]
    fixed: bool = False


PROMISED = (
    Property(
        name="lock duration",
        option="--lock-duration",
        key="LockDuration",
        deployed=lambda queue: queue.lock,
        wanted=lambda profile: profile.lock,
    ),
    Property(
        name="max delivery count",
        option="--max-delivery-count",
        key="MaxDeliveryCount",
        deployed=lambda queue: queue.max_deliveries,
        wanted=lambda profile: profile.max_deliveries,
    ),
    Property(
        name="message time to live",
        option="--default-message-time-to-live",
        key="DefaultMessageTimeToLive",
        deployed=lambda queue: queue.lifetime or FOREVER,
        wanted=lambda profile: profile.lifetime or FOREVER,
    ),
    Property(
        name="duplicate detection",
        option="--enable-duplicate-detection",
        key="RequiresDuplicateDetection",
        deployed=lambda queue: queue.window is not None,
        wanted=lambda profile: profile.window is not None,
        fixed=True,
    ),
)
"""What the profile says."""

WINDOW = Property(
    name="duplicate detection window",
    option="--duplicate-detection-history-time-window",
    key="DuplicateDetectionHistoryTimeWindow",
    deployed=lambda queue: queue.window or timedelta(),
    wanted=lambda profile: profile.window or timedelta(),
)
"""What it says besides, where it wants duplicate detection."""

REQUIRED = (
    Property(
        name="dead-lettering of expired messages",
        option="--enable-dead-lettering-on-message-expiration",
        key="DeadLetteringOnMessageExpiration",
        deployed=lambda queue: queue.dead_letters_expired,
        wanted=lambda _: True,
    ),
    Property(
        name="sessions",
        option="--enable-session",
        key="RequiresSession",
        deployed=lambda queue: queue.sessions,
        wanted=lambda _: False,
        fixed=True,
    ),
    Property(
        name="partitioning",
        option="--enable-partitioning",
        key="",
        deployed=lambda queue: queue.partitioned,
        wanted=lambda _: False,
        fixed=True,
    ),
)
"""What every consumer needs."""


def wanted_by(profile: Profile) -> tuple[Property, ...]:
    """The properties to make a queue with."""
    return (*PROMISED, *((WINDOW,) if profile.window else ()), *REQUIRED)


def text_of(value: Value) -> str:
    """The value as Service Bus, its command line and the contract write it."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case timedelta():
            return duration_text(value)


def shown(value: Value) -> str:
    """The value for a reader."""
    return "without end" if value == FOREVER else text_of(value)


def duration_text(duration: timedelta) -> str:
    """An ISO 8601 duration, such as ``P1DT12H``."""
    minutes, seconds = divmod(duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{duration.microseconds:06}".rstrip("0") if duration.microseconds else ""
    digits = {"H": f"{hours}", "M": f"{minutes}", "S": f"{seconds}{fraction}"}
    time = "".join(f"{number}{unit}" for unit, number in digits.items() if number != "0")
    date = f"{duration.days}D" if duration.days else ""
    return f"P{date}T{time}" if time else f"P{date or 'T0S'}"
