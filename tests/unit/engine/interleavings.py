"""Runs two consumers in every order of their steps, with a crash or a lapse at each.

A step is one call that reaches the store or the broker. The checker runs the consumers
until both stand before their next step, chooses who goes on, and records what it could
have chosen instead; then it starts over with the next choice, until none is left. From
its crash on a consumer's ports are dead: whatever its code still tries reaches nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Never

from idempotent_consumer.testing import MemoryStore, VirtualClock
from tests.unit.engine.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.engine.ports import Settler
    from idempotent_consumer.engine.settled import Settled


class HurriedClock(VirtualClock):
    """Sleeping takes no turn: the steps alone make the order."""

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)


class Consuming:
    """One consumer process: takes what the queue has, until it is empty or the process dies."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._store = SteppedStore(bench.store, self)
        self._engine = bench.new_engine(self._store)
        self._step: asyncio.Future[None] | None = None
        self._stands = asyncio.Event()
        self._crashed = False
        self._task = asyncio.ensure_future(self._run())

    @property
    def at_a_step(self) -> bool:
        return self._step is not None

    async def stand(self) -> None:
        """Returns when it stands before a step or has ended."""
        await self._stands.wait()

    def go_on(self) -> None:
        """Takes the step before which it stands."""
        assert self._step is not None
        self._stands.clear()
        step, self._step = self._step, None
        step.set_result(None)

    def crash(self) -> None:
        self._crashed = True
        self._stands.clear()
        self._step = None
        self._task.cancel()

    async def step(self) -> None:
        """Stands before a step until it is chosen; never returns in a dead process."""
        if self._crashed:
            await self._never()
        self._step = asyncio.get_running_loop().create_future()
        self._stands.set()
        await self._step

    async def _never(self) -> Never:
        raise asyncio.CancelledError

    async def _run(self) -> None:
        try:
            await self._consume()
        except asyncio.CancelledError:
            pass
        finally:
            self._stands.set()

    async def _consume(self) -> None:
        await self.step()
        while received := self._bench.broker.receive():
            delivery, settler = received
            await self._engine.handle(delivery, SteppedSettler(settler, self))
            await self.step()


class SteppedStore(MemoryStore):
    """The shared store, as one consumer reaches it."""

    def __init__(self, shared: MemoryStore, consuming: Consuming) -> None:
        super().__init__()
        self.documents = shared.documents
        self.troubles = shared.troubles
        self._consuming = consuming

    async def _called(self, call: str) -> None:
        await self._consuming.step()


@dataclass(slots=True)
class SteppedSettler:
    """A settler, as one consumer reaches it."""

    settler: Settler
    consuming: Consuming

    async def settle(self, settlement: Settlement) -> Settled:
        await self.consuming.step()
        return await self.settler.settle(settlement)


@dataclass(slots=True)
class Choices:
    """The choices of one run: those prescribed first, then the first of each."""

    prescribed: list[int]
    taken: list[int] = field(default_factory=list)
    offered: list[int] = field(default_factory=list)

    def choose(self, options: list[Callable[[], None]]) -> Callable[[], None]:
        position = len(self.taken)
        choice = self.prescribed[position] if position < len(self.prescribed) else 0
        self.taken.append(choice)
        self.offered.append(len(options))
        return options[choice]

    def next(self) -> list[int] | None:
        """What to prescribe for the run after this one."""
        taken = self.taken[:]
        while taken:
            choice = taken.pop() + 1
            if choice < self.offered[len(taken)]:
                return [*taken, choice]
        return None


def every_run(prepare: Callable[[Bench], None], *, mishaps: int) -> Iterator[Bench]:
    """The world after each possible run, and after a last consumer has emptied the queue.

    Args:
        prepare: Fills the queue.
        mishaps: How many crashes and lapses of locks one run may hold.
    """
    prescribed: list[int] | None = []
    with asyncio.Runner() as runner:
        while prescribed is not None:
            choices = Choices(prescribed)
            bench = Bench(clock=HurriedClock())
            prepare(bench)
            runner.run(_run(bench, choices, mishaps))
            yield bench
            prescribed = choices.next()


async def _run(bench: Bench, choices: Choices, mishaps: int) -> None:
    both = [Consuming(bench), Consuming(bench)]
    for consuming in both:
        await consuming.stand()
    both[0].go_on()  # they are alike, so it makes no odds which goes first
    while standing := await _standing(both):
        options = [consuming.go_on for consuming in standing]
        if mishaps:
            options += [consuming.crash for consuming in standing]
            options += [bench.broker.lapse_locks] * bench.broker.has_locks
        chosen = choices.choose(options)
        mishaps -= choices.taken[-1] >= len(standing)
        chosen()
    bench.broker.lapse_locks()
    last = Consuming(bench)
    while await _standing([last]):
        last.go_on()


async def _standing(consumers: list[Consuming]) -> list[Consuming]:
    for consuming in consumers:
        await consuming.stand()
    return [consuming for consuming in consumers if consuming.at_a_step]
