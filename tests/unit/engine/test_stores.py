from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Never

import pytest

from idempotent_consumer.core.commit import Faulted
from idempotent_consumer.core.plan import Plan
from idempotent_consumer.core.request import Place
from idempotent_consumer.core.writes import Create
from idempotent_consumer.engine.stores import TimeLimited
from idempotent_consumer.testing import MemoryStore

if TYPE_CHECKING:
    from idempotent_consumer.core.commit import CommitResult, Fault, ReadResult

PLACE = Place(partition="p", id="i")
PLAN = Plan(place=PLACE, operations=(Create({"id": "i"}),))


class Hanging(MemoryStore):
    async def _called(self, call: str) -> Never:
        raise await asyncio.get_running_loop().create_future()


async def test_a_call_that_never_returns_is_a_fault() -> None:
    store = TimeLimited(Hanging(), seconds=0.01)
    answers: list[CommitResult | ReadResult | Fault | None] = [
        await store.commit(PLAN),
        await store.read(PLACE),
        await store.probe(),
    ]
    faults = [answer.fault if isinstance(answer, Faulted) else answer for answer in answers]
    assert [getattr(fault, "cause", None) for fault in faults] == ["timeout"] * 3


async def test_a_cancelled_call_is_cancelled_and_no_fault() -> None:
    call = asyncio.ensure_future(TimeLimited(Hanging(), seconds=60).commit(PLAN))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
