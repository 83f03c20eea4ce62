"""Time and faults, apart from the emulators that obey them."""

from __future__ import annotations

import asyncio

import pytest

from local_azure.clock import Clock
from local_azure.faults import Drop, Fail, Faults, Operation


async def test_whoever_waits_is_woken_from_another_thread() -> None:
    clock = Clock(frozen_at=100)
    waiting = asyncio.create_task(clock.wait_until(160))
    await asyncio.sleep(0)
    await asyncio.to_thread(clock.advance, 59)
    assert not (await asyncio.wait([waiting], timeout=0))[0]
    await asyncio.to_thread(clock.advance, 1)
    await asyncio.wait_for(waiting, 5)


@pytest.mark.parametrize("code", [200, 600, -1, "busy", ""])
def test_a_failure_has_a_code_that_an_answer_can_carry(code: int | str) -> None:
    with pytest.raises(ValueError, match="neither an HTTP status"):
        Fail(code=code)


def test_only_failures_befall_a_part_of_an_operation() -> None:
    faults = Faults()
    drop = faults.add(Drop(applied=True))
    faults.add(Fail(code=409), operation="batch_create", skip=1)
    part = Operation(name="batch_create", entity="shop/orders")
    assert [faults.failure_of(part) for _ in range(3)] == [None, Fail(code=409), None]
    assert drop.hits == 0
