"""The README's first program, as it stands there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from typing import TYPE_CHECKING

from tests.acceptance.shop import ROOT, order

if TYPE_CHECKING:
    from tests.acceptance.shop import Shop


def first_program() -> str:
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


async def test_it_handles_orders_and_says_what_became_of_a_changed_one(shop: Shop) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", first_program()),
        cwd=ROOT,
        env=os.environ | shop.settings | {"IDEMPOTENT_CONSUMER_PROFILE": ""},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await shop.send(order())
        await shop.completed()
        await shop.send_again(order(customerId="somebody else"))
        await shop.dead_lettered()
    finally:
        process.terminate()
        _, said = await process.communicate()
    log = said.decode()
    assert re.search(r"WARNING .*IDEMPOTENT_CONSUMER_PROFILE", log)
    assert re.search(r"ERROR +message handled .*key=ord-1001 .*outcome=mismatch", log)
    assert "somebody else" not in log
