"""What is left out of Microsoft's suites."""

from __future__ import annotations

import pytest

from emulators.conformance.suites import SUITES, Suite


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_whatever_is_deselected_has_a_reason_and_is_part_of_the_suite(suite: Suite) -> None:
    assert all(reason.endswith(".") for reason in suite.reasons.values())
    assert {test.partition("::")[0] for test in suite.reasons} <= {*suite.files}
