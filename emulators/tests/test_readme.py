"""The README's Python blocks run as they stand."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

_README = Path(__file__).parents[1] / "README.md"
_BLOCKS = re.findall(r"^```python\n(.*?)^```", _README.read_text(), re.DOTALL | re.MULTILINE)
_SCRIPTS = [block for block in _BLOCKS if "asyncio.run" in block]
_TESTS = [block for block in _BLOCKS if "def test_" in block]


@pytest.mark.parametrize("script", _SCRIPTS, ids=range(len(_SCRIPTS)))
async def test_a_script_runs(script: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", script, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert (process.returncode, errors) == (0, b"")


async def test_the_tests_pass_with_the_plugin_that_they_are_about(tmp_path: Path) -> None:
    tmp_path.joinpath("conftest.py").write_text('pytest_plugins = ["local_azure.pytest_plugin"]\n')
    (tests,) = _TESTS
    tmp_path.joinpath("test_orders.py").write_text(tests)
    pytest_alone = ["-m", "pytest", "-c", os.devnull, "-p", "no:asyncio", "-q", "-W", "error"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *pytest_alone, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert "3 passed" in output.decode()


def test_every_block_is_run() -> None:
    assert len(_SCRIPTS) + len(_TESTS) == len(_BLOCKS) == 3
