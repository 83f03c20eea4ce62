"""Plays the story and tells how it went."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from enum import IntEnum
from typing import TYPE_CHECKING

from rich.console import Console

from shop.demo.facts import Report, Row
from shop.demo.report import show
from shop.demo.stage import Stalled, open_stage
from shop.demo.story import STORY
from shop.demo.worker import WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Callable

    from shop.demo.facts import Facts
    from shop.demo.stage import Stage
    from shop.demo.story import Scene

WIDTH = 100
"""Columns, where no terminal says how many it has."""


class ExitCode(IntEnum):
    """How the demo ends."""

    RIGHT = 0
    WRONG = 1
    NOT_PLAYED = 2
    INTERRUPTED = 130


def run(*, as_json: bool) -> ExitCode:
    """Plays the story and prints what came of it."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH, markup=False, highlight=False)
    try:
        with console.status("Starting") as status:
            report = asyncio.run(_played(status.update))
    except (WorkerEnded, OSError) as error:
        sys.stderr.write(f"the demo cannot be played: {error}\n")
        return ExitCode.NOT_PLAYED
    except (KeyboardInterrupt, asyncio.CancelledError):
        return ExitCode.INTERRUPTED
    if as_json:
        sys.stdout.write(json.dumps(report.as_json(), indent=2) + "\n")
    else:
        show(report, console)
    return exit_code(report)


def exit_code(report: Report) -> ExitCode:
    """Right, if every row is."""
    return ExitCode.WRONG if report.problems else ExitCode.RIGHT


async def _played(announce: Callable[[str], None]) -> Report:
    _stop_on_sigterm()
    began = time.monotonic()
    async with open_stage() as stage:
        rows = []
        for scene in STORY:
            announce(scene.title)
            rows.append(await _row(scene, stage))
        return Report(
            rows=tuple(rows),
            stored=tuple(stage.documents()),
            dead_letters=await stage.dead_letters(),
            seconds=time.monotonic() - began,
        )


async def _row(scene: Scene, stage: Stage) -> Row:
    """Plays one scene, until everything has come that must, or it is too late."""
    stage.begin_scene()
    stalled = ""
    try:
        await scene.play(stage)
        await stage.until(lambda: _facts(scene, stage) == scene.expected, "the end of the scene")
    except Stalled as stall:
        stalled = str(stall)
    return Row(
        title=scene.title, expected=scene.expected, actual=_facts(scene, stage), stalled=stalled
    )


def _facts(scene: Scene, stage: Stage) -> Facts:
    return stage.evidence().facts(scene.message_ids or scene.orders, scene.orders)


def _stop_on_sigterm() -> None:
    """Lets SIGTERM end what is played as Ctrl+C does: the worker ends with it."""
    playing = asyncio.current_task()
    assert playing is not None  # noqa: S101  # a coroutine runs in a task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, playing.cancel)
