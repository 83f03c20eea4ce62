"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    """Good to know; nothing has to be done."""
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found.

    Attributes:
        check: What was looked at, in a few fixed words.
        what: How it is.
        mend: The command or setting that changes it.
        unreachable: A service did not answer, so what hangs on it is not known.
    """

    severity: Severity
    check: str
    what: str
    mend: str = ""
    unreachable: bool = False


def ok(check: str, what: str) -> Finding:
    """All is well."""
    return Finding(severity=Severity.OK, check=check, what=what)


def note(check: str, what: str, mend: str = "") -> Finding:
    """Good to know."""
    return Finding(severity=Severity.NOTE, check=check, what=what, mend=mend)


def problem(check: str, what: str, mend: str = "", *, unreachable: bool = False) -> Finding:
    """Something has to be done."""
    return Finding(
        severity=Severity.PROBLEM, check=check, what=what, mend=mend, unreachable=unreachable
    )
