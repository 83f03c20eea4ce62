"""Fetching a suite and running its files, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emulators.conformance.reporting import DESELECTED, REPORT

if TYPE_CHECKING:
    from emulators.conformance.suites import Suite

_ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult:
    """How the tests of one file ended.

    Attributes:
        file: The file.
        passed: How many passed.
        failed: The ids of those that did not, or the file's name if it could not be run.
        skipped: How many skipped themselves, or failed as Microsoft expects them to.
        deselected: How many were not run, for a reason written down.
        output: What pytest wrote.
    """

    file: str
    passed: int
    failed: tuple[str, ...]
    skipped: int
    deselected: int
    output: str


def fetch(suite: Suite, folder: Path) -> Path:
    """Downloads and unpacks the suite unless it is there; returns the folder of its tests."""
    source = folder / suite.requirement
    if not source.is_dir():
        with tempfile.TemporaryDirectory() as download:
            _run_pip("--dest", download, f"--no-binary={suite.package}", suite.requirement)
            (archive,) = Path(download).glob("*.tar.gz")
            _unpack(archive, source)
    shutil.copytree(suite.overlay, source / "tests", dirs_exist_ok=True)
    return source / "tests"


def _run_pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *arguments]
    subprocess.run(command, check=True)  # noqa: S603


def _unpack(archive: Path, into: Path) -> None:
    """Unpacks without the folder that all of the archive lies in."""
    with tarfile.open(archive) as opened, tempfile.TemporaryDirectory(dir=into.parent) as folder:
        opened.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        unpacked.rename(into)


def run_file(suite: Suite, tests: Path, file: str) -> FileResult:
    """Runs one file; tests leave patches behind that would make others fail."""
    deselected = suite.deselected(file)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (_ROOT, _ROOT / "emulators" / "src"))),
            DESELECTED: json.dumps(deselected),
            REPORT: str(report),
        }
        finished = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "pytest", file, *_options(suite)],
            cwd=tests,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        ended = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    failed = (*ended.get("failed", []), *ended.get("error", []))
    could_not_run = finished.returncode not in (0, 1) and not failed
    return FileResult(
        file=file,
        passed=len(ended.get("passed", [])) + len(ended.get("xpassed", [])),
        failed=(file,) if could_not_run else failed,
        skipped=len(ended.get("skipped", [])) + len(ended.get("xfailed", [])),
        deselected=len(deselected),
        output=finished.stdout,
    )


def _options(suite: Suite) -> list[str]:
    return [
        *("-p", "emulators.conformance.reporting"),
        *("-p", suite.plugin),
        *("-p", "no:cacheprovider"),
        *("-c", os.devnull),
        "--rootdir=.",
        "--quiet",
        "--disable-warnings",
        "--show-capture=no",
        "--tb=native",
        f"--timeout={suite.seconds}",
        *suite.options,
    ]
