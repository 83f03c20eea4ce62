"""Writes `docs/field-cases.md` from catalogue and tests: ``python -m tests.field_cases``."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "field-cases.md"
CATALOGUE: dict[str, dict[str, Any]] = tomllib.loads(
    (ROOT / "tests" / "field_cases.toml").read_text("utf-8")
)

HEAD = """\
# From the field

What went wrong for others who did this job, as they reported it in public, and what becomes of \
it here. Each has a test. What is out of anybody's hands stands in [limits.md](limits.md).

| case | what went wrong | here | reported as | shown by |
|---|---|---|---|---|
"""


def tests_by_case() -> dict[str, list[str]]:
    """The tests that name each case, as ``path::name``."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for test, case in _marked(ast.parse(path.read_text("utf-8"))):
            found.setdefault(case, []).append(f"{path.relative_to(ROOT).as_posix()}::{test}")
    return found


def _marked(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and _is_case(decorator.func):
                    yield from ((node.name, ast.literal_eval(case)) for case in decorator.args)


def _is_case(marker: ast.expr) -> bool:
    return isinstance(marker, ast.Attribute) and marker.attr == "case"


def page() -> str:
    """The page as it should be."""
    tests = tests_by_case()
    return HEAD + "".join(_row(case, tests.get(case, [])) for case in CATALOGUE)


def _row(case: str, tests: list[str]) -> str:
    told = CATALOGUE[case]
    reported, shown = ", ".join(told.get("reported", ())), ", ".join(f"`{test}`" for test in tests)
    return f"| {case} | {told['failure']} | {told['here']} | {reported} | {shown} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
