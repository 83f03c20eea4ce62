"""Runs a worker as a process does: until a signal, and under a watchdog."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from idempotent_consumer.worker.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from idempotent_consumer.worker.worker import QueueWorker

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


async def host(worker: QueueWorker, *, blocked_limit: float) -> None:
    """Runs the worker until SIGTERM or SIGINT.

    Args:
        blocked_limit: Seconds for which the event loop may stand still before the process
            is ended with code 70.
    """
    with Watchdog(blocked_limit), _on_signals(worker.stop):
        await worker.run()


@contextmanager
def _on_signals(stop: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows; Ctrl+C cancels the main task there
        for number in _SIGNALS:
            loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number in _SIGNALS:
                loop.remove_signal_handler(number)
