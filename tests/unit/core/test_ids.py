from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idempotent_consumer.core.ids import MAX_ID_BYTES, encode_id

GOLDEN = {
    "ord-1001": "ord-1001",
    "EU/2026/17": "EU~2F2026~2F17",
    "a\\b": "a~5Cb",
    "q?x": "q~3Fx",
    "n#1": "n~231",
    "a%2Fb": "a~252Fb",
    "a~2Fb": "a~7E2Fb",
    ".": "~2E",
    "..": "~2E~2E",
    "...": "...",
    " padded ": "~20padded~20",
    "two words": "two words",
    "line\nbreak": "line~0Abreak",
    "emoji 😀": "emoji 😀",
    "NE3c+/kPrmA=": "NE3c+~2FkPrmA=",
    "~d~": "~7Ed~7E",
    "x" * 300: "~d~0d4e2ca9e9cbced7a7a5380eb29e1a3783b9b6d0db72de36a1051038e1c1fbc7",
}


@pytest.mark.case("EVO-07")
@pytest.mark.parametrize(("raw", "stored"), GOLDEN.items(), ids=lambda text: text[:12])
def test_ids_are_what_they_always_were(raw: str, stored: str) -> None:
    """With another encoding every message would be new: this table never changes."""
    assert stored == encode_id(raw)


@pytest.mark.case("ID-05")
@given(st.text(min_size=1), st.text(min_size=1))
def test_different_ids_stay_different(one: str, other: str) -> None:
    assert (one == other) == (encode_id(one) == encode_id(other))


@pytest.mark.case("ID-08")
@given(st.text(min_size=1))
def test_every_id_can_be_stored_and_routed(raw: str) -> None:
    stored = encode_id(raw)
    assert not re.search(r"[/\\?#%\x00-\x1f\x7f]|^ | \Z", stored)
    assert stored not in {"", ".", ".."}
    assert len(stored.encode()) <= MAX_ID_BYTES


@given(st.text(min_size=1, max_size=80))
def test_no_raw_id_becomes_a_reserved_one(raw: str) -> None:
    assert not re.match(r"~[a-z]", encode_id(raw))
