"""The README's Python blocks run as they stand."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

_README = Path(__file__).parents[1] / "README.md"
_BLOCKS = re.findall(r"^```python\n(.*?)^```", _README.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", _BLOCKS, ids=range(len(_BLOCKS)))
async def test_a_block_runs(block: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", block, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert (process.returncode, errors) == (0, b"")


def test_there_is_something_to_run() -> None:
    assert len(_BLOCKS) == 2
