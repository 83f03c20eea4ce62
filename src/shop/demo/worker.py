"""The worker as a user starts it: a process of its own, of which only the log is seen."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

COMMAND = (sys.executable, "-m", "idempotent_consumer.cli", "worker", "--json", "--verbose")
GRACE = 5.0
"""Seconds for a worker that was asked to stop."""


class WorkerEnded(Exception):
    """The worker ended though nobody ended it; the text says what it said last."""


class WorkerProcess:
    """One worker at a time; its log goes on where it is started anew.

    Args:
        options: Of the command.
        environment: Its environment.
        folder: Where it is started.

    Attributes:
        lines: What it logged, one JSON object each.
    """

    def __init__(
        self, options: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        self.lines: list[dict[str, Any]] = []
        self._options = options
        self._environment = environment
        self._folder = folder
        self._other_output: list[str] = []

    async def start(self) -> None:
        """Starts it; it is not ready before it says so."""
        self._process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *self._options,
            env=self._environment,
            cwd=self._folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        self._reading = asyncio.create_task(self._read(self._process))

    async def kill(self) -> None:
        """Ends it as a power cut does."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Asks it to stop, and waits until it has; kills it if it takes too long."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._end(signal.SIGTERM)
        finally:
            await self.kill()

    def check(self) -> None:
        """Raises `WorkerEnded` if it has."""
        if self._process.returncode is not None:
            last = "\n".join(self._other_output[-20:]) or json.dumps(self.lines[-1:])
            raise WorkerEnded(f"the worker ended with {self._process.returncode}:\n{last}")

    def said(self, message: str) -> int:
        """How often it logged this."""
        return sum(line["message"] == message for line in self.lines)

    async def _end(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)
        await self._process.wait()
        await self._reading

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None  # noqa: S101  # it is a pipe
        async for line in process.stderr:
            try:
                self.lines.append(_log_line(line))
            except ValueError:
                self._other_output.append(line.decode(errors="replace").rstrip())


@asynccontextmanager
async def working(worker: WorkerProcess) -> AsyncIterator[WorkerProcess]:
    """The worker, started, and stopped whatever happens."""
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop()


def _log_line(text: bytes) -> dict[str, Any]:
    """Raises `ValueError` if it is none."""
    line = json.loads(text)
    if not isinstance(line, dict) or "message" not in line:
        raise ValueError("no line of a log")
    return line
