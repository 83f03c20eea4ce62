"""The pytest plugin that leaves out what is deselected and writes down how the rest ended."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

DESELECTED: Final = "CONFORMANCE_DESELECTED"
"""The environment variable with the ids of deselected tests, as a JSON list."""

REPORT: Final = "CONFORMANCE_REPORT"
"""The environment variable with the path that the outcomes are written to."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects; a reason for a test that is not there is an error, for it is out of date."""
    unwanted = set(json.loads(os.environ[DESELECTED]))
    missing = unwanted - {item.nodeid for item in items}
    if missing:
        raise pytest.UsageError(f"deselected, but not there: {', '.join(sorted(missing))}")
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in unwanted])
    items[:] = [item for item in items if item.nodeid not in unwanted]


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: Any) -> Iterator[None]:
    """Writes the ids of the tests by how they ended."""
    yield
    ended = {
        outcome: [report.nodeid for report in terminalreporter.stats.get(outcome, [])]
        for outcome in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    }
    Path(os.environ[REPORT]).write_text(json.dumps(ended), encoding="utf-8")
