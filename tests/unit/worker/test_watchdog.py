"""The watchdog ends a process whose loop stands still, and no other."""

from __future__ import annotations

import asyncio
import threading

from idempotent_consumer.worker.watchdog import CHECKS, Watchdog


class Ends:
    """Counts how often the process would have been ended."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = threading.Event()

    def __call__(self) -> None:
        self.count += 1
        self.ended.set()


def test_a_loop_that_misses_every_check_is_ended() -> None:
    ends = Ends()
    watchdog = Watchdog(60, end=ends)
    for _ in range(CHECKS - 1):
        watchdog.check()
    assert ends.count == 0
    watchdog.check()
    assert ends.count == 1


def test_a_loop_that_turns_now_and_then_is_spared() -> None:
    ends = Ends()
    watchdog = Watchdog(60, end=ends)
    for _ in range(3 * CHECKS):
        watchdog.check()
        watchdog.turned()
    assert ends.count == 0


async def test_a_running_loop_is_seen_to_turn() -> None:
    ends = Ends()
    with Watchdog(0.5, end=ends):
        await asyncio.sleep(0.6)
    assert ends.count == 0


async def test_a_blocked_loop_is_noticed_from_outside_of_it() -> None:
    ends = Ends()
    with Watchdog(1, end=ends):  # on a busy machine it has a second left, then the process ends
        assert ends.ended.wait(5)
