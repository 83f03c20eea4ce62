"""Turns are taken alone or together, and in the order of asking."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.servicebus.turns import Turns

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


class Diary:
    """Notes who has a turn; each turn lasts until it is ended."""

    def __init__(self) -> None:
        self.having: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, turn: AbstractAsyncContextManager[None]) -> None:
        self._ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._have(name, turn))
        await settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await settle()

    async def _have(self, name: str, turn: AbstractAsyncContextManager[None]) -> None:
        async with turn:
            self.having.append(name)
            await self._ends[name].wait()
            self.having.remove(name)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_those_who_share_have_their_turn_together() -> None:
    turns, diary = Turns(), Diary()
    await diary.ask("first", turns.shared())
    await diary.ask("second", turns.shared())
    assert diary.having == ["first", "second"]
    await diary.end("first")
    await diary.end("second")


async def test_alone_means_after_all_who_share_and_before_all_who_asked_later() -> None:
    turns, diary = Turns(), Diary()
    await diary.ask("first", turns.shared())
    await diary.ask("alone", turns.alone())
    await diary.ask("later", turns.shared())
    assert diary.having == ["first"]
    await diary.end("first")
    assert diary.having == ["alone"]
    await diary.end("alone")
    assert diary.having == ["later"]
    await diary.end("later")


async def test_who_gives_up_waiting_blocks_nobody() -> None:
    turns, diary = Turns(), Diary()
    await diary.ask("first", turns.shared())
    await diary.ask("alone", turns.alone())
    diary.tasks["alone"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await diary.tasks["alone"]
    await diary.ask("later", turns.shared())
    assert diary.having == ["first", "later"]
    await diary.end("first")
    await diary.end("later")
