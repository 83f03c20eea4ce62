"""``python -m emulators.conformance SUITE``: Microsoft's own tests against the emulators.

Nothing of theirs is part of this project: the tests come with the source of the SDK, which
pip downloads.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from emulators.conformance.running import fetch, run_file
from emulators.conformance.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulators.conformance.running import FileResult


def main() -> int:
    """Runs suites; returns 1 if a test failed that is not deselected."""
    options = _parser().parse_args()
    names = options.suite or [*SUITES]
    options.folder.mkdir(parents=True, exist_ok=True)
    return max([_run(name, options) for name in names])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m emulators.conformance", description=__doc__)
    add = parser.add_argument
    add("suite", nargs="*", choices=[*SUITES, []], help="the suites to run (all)")
    add("--file", action="append", help="run this file of them only; may be repeated")
    add("--jobs", type=int, default=os.cpu_count(), help="files at a time (%(default)s)")
    add("--folder", type=Path, default=Path("build/conformance"), help="where tests are unpacked")
    return parser


def _run(name: str, options: argparse.Namespace) -> int:
    suite = SUITES[name]
    tests = fetch(suite, options.folder)
    files = [file for file in suite.files if options.file is None or file in options.file]
    width = max(map(len, files), default=0)
    _say(f"{suite.requirement}\n{'':{width}}  passed failed skipped deselected")
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(partial(run_file, suite, tests), files):
            _say(_row(result, width))
            results.append(result)
    return _sum_up(results, width)


def _sum_up(results: Sequence[FileResult], width: int) -> int:
    totals = [
        sum(result.passed for result in results),
        sum(len(result.failed) for result in results),
        sum(result.skipped for result in results),
        sum(result.deselected for result in results),
    ]
    _say(_cells("all", totals, width))
    for result in results:
        if result.failed:
            _say(f"\n{result.output}")
    return 1 if totals[1] else 0


def _row(result: FileResult, width: int) -> str:
    numbers = [result.passed, len(result.failed), result.skipped, result.deselected]
    return _cells(result.file, numbers, width)


def _cells(first: str, numbers: Sequence[int], width: int) -> str:
    passed, failed, skipped, deselected = numbers
    return f"{first:{width}}  {passed:6} {failed:6} {skipped:7} {deselected:10}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
