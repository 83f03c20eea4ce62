"""Fakes of everything outside, for tests: a store, a broker, a clock, a telemetry that keeps.

They pass the same contract suites as the real things, and nothing in them waits for real.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import json
from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from idempotent_consumer.core.commit import (
    Absent,
    Collided,
    CommitResult,
    Committed,
    Exists,
    Fault,
    Faulted,
    ReadResult,
    Unmarked,
)
from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter, Hold, Settlement
from idempotent_consumer.core.delivery import Delivery, JsonObject
from idempotent_consumer.core.marker import read_marker
from idempotent_consumer.engine.settled import Settled

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping
    from contextlib import AbstractContextManager

    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.request import Place
    from idempotent_consumer.engine.events import Event

Result = TypeVar("Result")

__all__ = ["MemoryBroker", "MemoryStore", "RecordingTelemetry", "Trouble", "VirtualClock"]


class VirtualClock:
    """Time that passes only while everybody sleeps.

    ``await clock.run(work())`` runs the work and moves the clock to the next sleeper's
    hour whenever nothing else is left to do.
    """

    IDLE_TURNS = 50

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        """See `Clock`."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """See `Clock`."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """See `Clock`."""
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), woken))
        await woken

    def advance(self, seconds: float) -> None:
        """Lets time pass; wakes nobody."""
        self._elapsed += seconds

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The work's result."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(self.IDLE_TURNS):
                await asyncio.sleep(0)
            self._wake_next()
        return await task

    def _wake_next(self) -> None:
        while self._sleepers:
            hour, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                self._elapsed = max(self._elapsed, hour)
                woken.set_result(None)
                return


@dataclass(slots=True, kw_only=True)
class Trouble:
    """A fault that befalls calls of a `MemoryStore`.

    Attributes:
        call: ``commit``, ``read`` or ``probe``; left out, each of them.
        applied: A commit took effect all the same.
        times: So many calls; ``None`` until it is removed from ``troubles``.
    """

    fault: Fault
    call: str | None = None
    applied: bool = False
    times: int | None = 1


class MemoryStore:
    """A container in memory.

    Attributes:
        documents: What is stored, by partition value and id.
        calls: The calls so far, in order.
        troubles: What befalls the next calls, the first that matches.
    """

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], JsonObject] = {}
        self.calls: list[str] = []
        self.troubles: list[Trouble] = []

    async def commit(self, plan: Plan) -> CommitResult:
        """See `Store`."""
        await self._called("commit")
        trouble = self._befalls("commit")
        if trouble and not trouble.applied:
            return Faulted(trouble.fault)
        blamed = self._write(plan)
        if trouble:
            return Faulted(trouble.fault)
        return Committed() if blamed is None else await self._conflict(plan, blamed)

    async def read(self, place: Place) -> ReadResult:
        """See `Store`."""
        await self._called("read")
        if trouble := self._befalls("read"):
            return Faulted(trouble.fault)
        document = self.documents.get((place.partition, place.id))
        if document is None:
            return Absent()
        marker = read_marker(document)
        return Unmarked(_copied(document)) if marker is None else Exists(marker)

    async def probe(self) -> Fault | None:
        """See `Store`."""
        await self._called("probe")
        trouble = self._befalls("probe")
        return trouble.fault if trouble else None

    async def _called(self, call: str) -> None:
        """Gives others their turn, as a real call does."""
        self.calls.append(call)
        await asyncio.sleep(0)

    def _write(self, plan: Plan) -> int | None:
        """Stores all documents, or none and answers which one met another."""
        named = {
            (plan.place.partition, write.document["id"]): write.document
            for write in plan.operations
        }
        for number, address in enumerate(named):
            if address in self.documents:
                return number
        self.documents |= {address: _copied(document) for address, document in named.items()}
        return None

    async def _conflict(self, plan: Plan, blamed: int) -> CommitResult:
        found = await self.read(plan.place)
        return Collided(blamed) if isinstance(found, Absent) else found

    def _befalls(self, call: str) -> Trouble | None:
        for trouble in self.troubles:
            if trouble.call in {None, call}:
                if trouble.times is not None:
                    trouble.times -= 1
                    if trouble.times == 0:
                        self.troubles.remove(trouble)
                return trouble
        return None


def _copied(document: Mapping[str, Any]) -> JsonObject:
    """As the wire would: what is no JSON fails, and nothing is shared."""
    copy: JsonObject = json.loads(json.dumps(document))
    return copy


@dataclass(eq=False, slots=True, kw_only=True)
class _Copy:
    """One copy of a message in a queue."""

    delivery: Delivery
    deliveries: int = 0
    locked_until: float | None = None


@dataclass(slots=True, kw_only=True)
class MemoryBroker:
    """A queue in memory, in PeekLock mode.

    Attributes:
        lock: Seconds.
        window: Of duplicate detection, in seconds; ``None`` is off.
        dead_letters: The deliveries in the dead-letter queue, with reason and description.
        dropped: How many sends duplicate detection swallowed.
    """

    clock: VirtualClock
    lock: float = 60.0
    max_deliveries: int = 10
    window: float | None = None
    dead_letters: list[tuple[Delivery, str, str]] = field(default_factory=list)
    dropped: int = 0
    _copies: deque[_Copy] = field(default_factory=deque)
    _seen: dict[str, float] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def send(self, body: bytes, message_id: str | None, **attributes: Any) -> None:
        """Queues a message; the keywords are those of `Delivery`."""
        if self._is_repeated(message_id):
            self.dropped += 1
            return
        delivery = Delivery(
            message_id=message_id,
            body=body,
            lock_token="",
            delivery_count=0,
            sequence_number=next(self._numbers),
            enqueued_time=self.clock.now(),
            **attributes,
        )
        self._copies.append(_Copy(delivery=delivery))

    def receive(self) -> tuple[Delivery, MemorySettler] | None:
        """Locks the next message and hands it over, or ``None`` where none is to be had."""
        self._lapse()
        for copy in self._copies:
            if copy.locked_until is None:
                return self._hand_over(copy)
        return None

    @property
    def has_locks(self) -> bool:
        """Whether a delivery is locked."""
        return any(copy.locked_until is not None for copy in self._copies)

    def lapse_locks(self) -> None:
        """Ends every lock now, as if its time had come."""
        for copy in self._copies:
            if copy.locked_until is not None:
                copy.locked_until = self.clock.monotonic()
        self._lapse()

    def __len__(self) -> int:
        self._lapse()
        return len(self._copies)

    def _is_repeated(self, message_id: str | None) -> bool:
        if self.window is None or message_id is None:
            return False
        now = self.clock.monotonic()
        seen = self._seen.get(message_id)
        if seen is not None and now - seen < self.window:
            return True
        self._seen[message_id] = now
        return False

    def _hand_over(self, copy: _Copy) -> tuple[Delivery, MemorySettler]:
        copy.deliveries += 1
        copy.locked_until = self.clock.monotonic() + self.lock
        copy.delivery = _redelivered(copy.delivery, copy.deliveries)
        return copy.delivery, MemorySettler(self, copy, copy.delivery.lock_token)

    def _lapse(self) -> None:
        for copy in tuple(self._copies):
            if copy.locked_until is not None and copy.locked_until <= self.clock.monotonic():
                self._unlock(copy)

    def _unlock(self, copy: _Copy) -> None:
        copy.locked_until = None
        if copy.deliveries >= self.max_deliveries:
            self._bury(copy, "MaxDeliveryCountExceeded", "")

    def _bury(self, copy: _Copy, reason: str, description: str) -> None:
        self._copies.remove(copy)
        self.dead_letters.append((copy.delivery, reason, description))


@dataclass(slots=True)
class MemorySettler:
    """Settles one delivery of a `MemoryBroker`."""

    _broker: MemoryBroker
    _copy: _Copy
    _token: str

    async def settle(self, settlement: Settlement) -> Settled:
        """See `Settler`."""
        if isinstance(settlement, Hold):
            return Settled.CONFIRMED
        if not self._locked():
            return Settled.LOCK_LOST
        match settlement:
            case Complete():
                self._broker._copies.remove(self._copy)
            case DeadLetter(reason, description):
                self._broker._bury(self._copy, reason, description)
            case Abandon():
                self._broker._unlock(self._copy)
            case _:
                assert_never(settlement)
        return Settled.CONFIRMED

    def renew(self) -> bool:
        """Starts the lock anew; ``False`` where it is lost."""
        if self._locked():
            self._copy.locked_until = self._broker.clock.monotonic() + self._broker.lock
        return self._locked()

    def _locked(self) -> bool:
        self._broker._lapse()
        return (
            self._copy in self._broker._copies
            and self._copy.locked_until is not None
            and self._copy.delivery.lock_token == self._token
        )


def _redelivered(delivery: Delivery, count: int) -> Delivery:
    token = f"{delivery.sequence_number}.{count}"
    return replace(delivery, delivery_count=count, lock_token=token)


@dataclass(slots=True)
class RecordingTelemetry:
    """Keeps every event."""

    events: list[Event] = field(default_factory=list)

    def handling(self, delivery: Delivery) -> AbstractContextManager[None]:
        """See `Telemetry`."""
        return nullcontext()

    def record(self, event: Event) -> None:
        """See `Telemetry`."""
        self.events.append(event)
