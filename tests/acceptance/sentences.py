"""Writes `docs/pattern.md` from the tests: ``python -m tests.acceptance.sentences``."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = Path(__file__).parent / "test_pattern.py"
PAGE = ROOT / "docs" / "pattern.md"

HEAD = """\
# The pattern, sentence by sentence

The [Idempotent Consumer pattern](https://learn.microsoft.com/azure/architecture/patterns/) \
describes an example on Service Bus and Azure Cosmos DB. Each of its sentences that promises \
behaviour has a test, which runs both emulators and a worker:

| sentence | test in `tests/acceptance/test_pattern.py` |
|---|---|
"""


def page() -> str:
    """The page as it should be."""
    module = ast.parse(TESTS.read_text("utf-8"))
    tests = (node for node in module.body if isinstance(node, ast.AsyncFunctionDef))
    return HEAD + "".join(f"| {ast.get_docstring(test)} | `{test.name}` |\n" for test in tests)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
