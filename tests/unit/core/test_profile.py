from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from idempotent_consumer.core.profile import InvalidProfile, Profile, duration

HOUR = timedelta(hours=1)
SOUND = Profile(
    name="sound",
    lifetime=HOUR,
    window=timedelta(seconds=20),
    horizon=timedelta(seconds=20),
    resubmissions=1,
    resubmission_age=HOUR,
    retention=timedelta(days=1),
    margin=HOUR,
    outage=HOUR / 2,
)


def test_retention_covers_every_way_a_message_can_come_again() -> None:
    """H + (k+1)(T + N max(L, P)) + k S + margin = 20 s + 2 (1 h + 10 x 6 min) + 1 h + 1 h."""
    assert timedelta(hours=6, seconds=20) == SOUND.retention_needed()


def test_an_endless_message_needs_an_endless_marker() -> None:
    assert Profile().retention_needed() is None
    Profile().check()


@pytest.mark.case("TTL-03")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"retention": timedelta(hours=6)}, "markers live 6:00:00, but must outlive 6:00:20"),
        ({"lifetime": None}, "must outlive messages without end"),
        ({"outage": timedelta(hours=2)}, "10 deliveries of 0:04:00 do not outlast"),
        ({"budget": timedelta(minutes=4, seconds=51)}, "before the function timeout of 0:05:00, l"),
        ({"budget": timedelta(seconds=10)}, "no time for one store call"),
        ({"max_deliveries": 1}, "delivered at least twice"),
        ({"renewal": timedelta(minutes=4)}, "locks are renewed for 0:04:00"),
        ({"lock": timedelta(minutes=6)}, "longer than Service Bus grants"),
        ({"lock": timedelta()}, "a lock lasts for a while"),
        ({"window": timedelta(seconds=10)}, "producers re-send for 0:00:20"),
        ({"window": timedelta(hours=2)}, "looks back 2:00:00"),
    ],
)
def test_a_contradiction_is_named(change: dict[str, timedelta], problem: str) -> None:
    SOUND.check()
    with pytest.raises(InvalidProfile, match=problem):
        replace(SOUND, **change).check()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("PT20S", timedelta(seconds=20)),
        ("PT1M", timedelta(minutes=1)),
        ("P1DT2H3M4S", timedelta(days=1, hours=2, minutes=3, seconds=4)),
    ],
)
def test_durations_are_read_as_the_service_writes_them(text: str, value: timedelta) -> None:
    assert value == duration(text)


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1M", "PT-1M", "P1Y", "PT1.5S"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        duration(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"profile": "x"}', "null", "[" * 100_000])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(InvalidProfile, match="cannot be read"):
        Profile.parse(text)
