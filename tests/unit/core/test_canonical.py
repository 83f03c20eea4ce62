from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from idempotent_consumer.core.canonical import canonical

SAFE = 2**53 - 1
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.case("HASH-01", "HASH-02")
@given(values)
def test_it_is_rfc_8785_wherever_that_is_defined(value: object) -> None:
    assert rfc8785.dumps(value).decode() == canonical(value)  # type: ignore[arg-type]


@pytest.mark.case("HASH-03")
@pytest.mark.parametrize(
    ("spellings", "text"),
    [
        (("1", "1.0", "1.00", "1e0", "10e-1"), "1"),
        (("19.99", "19.990"), "19.99"),
        (("-0.0", "0", "-0", "0e5"), "0"),
        (("1E+2", "100"), "100"),
        (("1e21", "1000000000000000000000.0"), "1e+21"),
        (("1e20", "100000000000000000000"), "100000000000000000000"),
        (("0.000001", "1e-6"), "0.000001"),
        (("1e-7",), "1e-7"),
        (("5e-324",), "5e-324"),
        (("-1.5e300",), "-1.5e+300"),
    ],
)
def test_one_number_has_one_text(spellings: tuple[str, ...], text: str) -> None:
    assert {text} == {canonical(json.loads(spelling)) for spelling in spellings}


def test_decimals_that_are_one_double_are_equal() -> None:
    assert canonical(json.loads("12345678901234567.89")) == canonical(
        json.loads("12345678901234567.91")
    )


def test_integers_stand_verbatim_at_any_size() -> None:
    assert canonical(2**53 + 1) == "9007199254740993"
    assert str(10**400) == canonical(10**400)


def test_names_are_ordered_by_utf_16_units() -> None:
    """RFC 8785 3.2.3: U+1F600 is a surrogate pair, which comes before U+FF5E."""
    names = ["\uff5e", "\U0001f600", "z", "Z", "é"]
    assert canonical(dict.fromkeys(names, 0)) == '{"Z":0,"z":0,"é":0,"\U0001f600":0,"\uff5e":0}'


@pytest.mark.case("HASH-07")
def test_unicode_forms_are_not_normalised() -> None:
    assert canonical("Orl\u00e9ans") != canonical("Orle\u0301ans")
