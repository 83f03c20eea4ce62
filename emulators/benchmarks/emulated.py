"""An emulator in a process of its own, and what it has used."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from local_azure.background import BackgroundLoop
from local_azure.cosmos import LocalCosmos
from local_azure.servicebus import LocalServiceBus, QueueProperties

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    Emulator = LocalCosmos | LocalServiceBus


def cosmos() -> LocalCosmos:
    """An account with one container."""
    return LocalCosmos({"shop/orders": "/orderId"})


def service_bus() -> LocalServiceBus:
    """A namespace with one queue."""
    return LocalServiceBus({"orders": QueueProperties(lock_duration=timedelta(minutes=5))})


@dataclass(frozen=True, slots=True)
class Used:
    """What the emulator's process has used so far.

    Attributes:
        seconds: Of CPU time.
        memory: Its largest resident set, in MiB.
    """

    seconds: float
    memory: float


@contextmanager
def emulated(make: Callable[[], Emulator]) -> Iterator[tuple[str, Callable[[], Used]]]:
    """Runs an emulator: its connection string, and what it has used when asked."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(make, there))
    process.start()

    def used() -> Used:
        here.send(True)
        told = here.recv()
        return Used(*told)

    try:
        yield here.recv(), used
    finally:
        here.send(False)
        process.join()


def say(line: str) -> None:
    """Prints a line of the report."""
    sys.stdout.write(f"{line}\n")


def _serve(make: Callable[[], Emulator], connection: Connection) -> None:
    """Runs the emulator, and tells what it has used when asked, until told to stop."""
    emulator = make()
    with BackgroundLoop() as loop, loop.entered(emulator):
        connection.send(emulator.connection_string)
        while connection.recv():
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            connection.send((time.process_time(), memory))
