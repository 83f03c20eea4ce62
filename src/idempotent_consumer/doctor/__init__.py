"""What is wrong with a set-up, and what mends it.

`examine` gathers facts from both services; `check`, which is pure, judges them by tables of
small checks. Nothing is written, and no message is taken.
"""

from __future__ import annotations

from idempotent_consumer.doctor.checks import check, settings_findings
from idempotent_consumer.doctor.examine import examine
from idempotent_consumer.doctor.facts import Facts
from idempotent_consumer.doctor.findings import Finding, Severity
from idempotent_consumer.doctor.management import MANAGEMENT, management_address

__all__ = [
    "MANAGEMENT",
    "Facts",
    "Finding",
    "Severity",
    "check",
    "examine",
    "management_address",
    "settings_findings",
]
