"""Where faults strike: every operation of the emulator goes through here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeVar, assert_never

from local_azure.events import Event, EventLog
from local_azure.faults import Delay, Drop, Fail, Faults, Hang, Lapse, Operation, Overtake
from local_azure.servicebus.amqp.errors import AmqpError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local_azure.clock import Clock
    from local_azure.faults import Action

    Twists = Mapping[type[Lapse | Overtake], Callable[[], None]]

_T = TypeVar("_T")

DELIVER = "deliver"
"""The operation that makes a lock; others rely on one."""


class Cuttable(Protocol):
    """The connection that an operation came over."""

    def cut(self) -> None:
        """Ends it as a broken network does."""


def no_twists() -> Twists:
    """Neither a `Lapse` nor an `Overtake` means anything here."""
    return {}


def _nothing() -> None:
    pass


class Gate:
    """Carries operations out, or lets the fault in force befall them."""

    def __init__(self, clock: Clock, faults: Faults, events: EventLog) -> None:
        self.clock = clock
        self._faults = faults
        self._events = events

    def perform(
        self,
        operation: Operation,
        connection: Cuttable,
        effect: Callable[[], _T],
        answer: Callable[[_T | AmqpError], None],
        twists: Callable[[], Twists] = no_twists,
        unanswered: Callable[[], None] = _nothing,
    ) -> None:
        """Carries an operation out and answers it, each at most once.

        A `Lapse` or an `Overtake` without a twist befalls nothing.

        Args:
            operation: What it is.
            connection: What a drop cuts.
            effect: Does it; an `AmqpError` that it raises becomes the answer.
            answer: Sends the answer.
            twists: What a `Lapse` or an `Overtake` comes to here; asked only where there is one.
            unanswered: Told that a `Hang` has befallen it, after it took effect or did not.
        """
        match self._faults.strike(operation, lambda action: _may_befall(action, twists)):
            case None:
                answer(_attempt(effect))
            case Drop(applied=applied):
                _attempt_if(applied, effect)
                self._cut(operation, connection)
            case Delay(seconds=seconds):
                loop = asyncio.get_running_loop()
                loop.call_later(seconds, lambda: answer(_attempt(effect)))
            case Hang(applied=applied):
                _attempt_if(applied, effect)
                unanswered()
            case Lapse() if operation.name == DELIVER:
                answer(_attempt(effect))
                twists()[Lapse]()
            case Lapse() | Overtake() as action:
                twists()[type(action)]()
                answer(_attempt(effect))
            case Fail(code=code, applied=applied):
                _attempt_if(applied, effect)
                answer(AmqpError(str(code), f"The operation '{operation.name}' was failed."))
            case action:
                assert_never(action)

    def _cut(self, operation: Operation, connection: Cuttable) -> None:
        self._events.add(
            Event(
                at=self.clock.now(),
                service="servicebus",
                name="connection_dropped",
                entity=operation.entity,
                key=operation.key,
                detail=operation.name,
            )
        )
        connection.cut()


def _may_befall(action: Action, twists: Callable[[], Twists]) -> bool:
    return not isinstance(action, Lapse | Overtake) or type(action) in twists()


def _attempt(effect: Callable[[], _T]) -> _T | AmqpError:
    try:
        return effect()
    except AmqpError as error:
        return error


def _attempt_if(applied: bool, effect: Callable[[], object]) -> None:
    if applied:
        _attempt(effect)
