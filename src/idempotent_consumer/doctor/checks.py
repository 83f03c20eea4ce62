"""The checks: facts in, findings out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from idempotent_consumer.doctor.account_checks import account_findings
from idempotent_consumer.doctor.broker_checks import broker_findings
from idempotent_consumer.doctor.findings import ok, problem
from idempotent_consumer.doctor.promise_checks import promise_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from idempotent_consumer.doctor.facts import Facts
    from idempotent_consumer.doctor.findings import Finding


def check(facts: Facts) -> tuple[Finding, ...]:
    """All that can be said of a set-up whose settings can be used, good news included."""
    return (
        *settings_findings(()),
        *promise_findings(facts),
        *broker_findings(facts),
        *account_findings(facts),
    )


def settings_findings(problems: Sequence[str]) -> Sequence[Finding]:
    """Of the settings, by what is wrong with them."""
    if not problems:
        return [ok("settings", "can be used")]
    return [problem("settings", each) for each in problems]
