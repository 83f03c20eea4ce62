from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idempotent_consumer.core.profile import duration
from idempotent_consumer.doctor.properties import duration_text


@given(st.integers(min_value=0, max_value=10**9))
def test_a_duration_is_written_as_the_profile_reads_it(seconds: int) -> None:
    assert duration(duration_text(timedelta(seconds=seconds))) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("given_one", "text"),
    [
        (timedelta(), "PT0S"),
        (timedelta(days=1), "P1D"),
        (timedelta(minutes=60), "PT1H"),
        (timedelta(days=2, seconds=61), "P2DT1M1S"),
        (timedelta(milliseconds=500), "PT0.5S"),
    ],
)
def test_a_duration_is_written_as_shortly_as_the_contract_does(
    given_one: timedelta, text: str
) -> None:
    assert duration_text(given_one) == text
