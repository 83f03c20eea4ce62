"""Time and faults, apart from the emulators that obey them."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from local_azure.clock import Clock
from local_azure.faults import Delay, Drop, Fail, Faults, Hang, Lapse, Operation, Targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.faults import Action

_HUGE = 10**400


async def test_whoever_waits_is_woken_from_another_thread() -> None:
    clock = Clock(frozen_at=100)
    waiting = asyncio.create_task(clock.wait_until(160))
    await asyncio.sleep(0)
    await asyncio.to_thread(clock.advance, 59)
    assert not (await asyncio.wait([waiting], timeout=0))[0]
    await asyncio.to_thread(clock.advance, 1)
    await asyncio.wait_for(waiting, 5)


@pytest.mark.parametrize("seconds", [-1, 2, math.inf, math.nan, _HUGE])
def test_a_clock_goes_forward_and_not_as_far_as_9999(seconds: float) -> None:
    clock = Clock(frozen_at=datetime(9998, 12, 31, 23, 59, 58, tzinfo=UTC).timestamp())
    with pytest.raises(ValueError, match="9999"):
        clock.advance(seconds)
    clock.advance(1)
    assert datetime.fromtimestamp(clock.now(), UTC).second == 59


@pytest.mark.parametrize("moment", [-1, math.inf, math.nan, _HUGE])
def test_a_clock_stands_at_a_time_of_this_era(moment: float) -> None:
    with pytest.raises(ValueError, match="between the years 1970 and 9999"):
        Clock(frozen_at=moment)


@pytest.mark.parametrize("code", [200, 600, -1, "busy", "", "é:busy", "a:\n", "a:" + "b" * 254])
def test_a_failure_has_a_code_that_an_answer_can_carry(code: int | str) -> None:
    with pytest.raises(ValueError, match="neither an HTTP status"):
        Fail(code=code)


def test_only_failures_befall_a_part_of_an_operation() -> None:
    faults = Faults()
    drop = faults.add(Drop(applied=True))
    faults.add(Fail(code=409), operation="batch_create", skip=1)
    part = Operation(name="batch_create", entity="shop/orders")
    assert [faults.failure_of(part) for _ in range(3)] == [None, Fail(code=409), None]
    assert drop.hits == 0


@pytest.mark.parametrize("seconds", [-0.1, math.inf, math.nan, _HUGE])
@pytest.mark.parametrize(
    "make",
    [lambda seconds: Delay(seconds=seconds), lambda seconds: Fail(code=429, retry_after=seconds)],
    ids=["delay", "retry after"],
)
def test_what_is_waited_for_is_a_time(make: Callable[[float], Action], seconds: float) -> None:
    with pytest.raises(ValueError, match="a number from 0 to"):
        make(seconds)


@pytest.mark.parametrize("sub_status", [-1, 65536, _HUGE])
def test_a_sub_status_has_two_bytes(sub_status: int) -> None:
    with pytest.raises(ValueError, match="sub_status"):
        Fail(code=400, sub_status=sub_status)


@pytest.mark.parametrize("counts", [{"skip": -1}, {"skip": _HUGE}, {"times": 0}, {"times": _HUGE}])
def test_a_fault_strikes_at_least_once(counts: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is a number from"):
        Faults().add(Drop(applied=True), **counts)


_TARGETS = Targets(
    operations={
        "batch": frozenset({Drop, Fail}),
        "batch_create": frozenset({Fail}),
        "deliver": frozenset({Lapse}),
    },
    code=int,
)
_POINTLESS: list[tuple[Action, str, str]] = [
    (Drop(applied=True), "bach", "no operation 'bach'"),
    (Drop(applied=True), "*_craete", "no operation"),
    (Drop(applied=True), "", "no operation"),
    (Drop(applied=True), "batch_*", "Drop has no effect"),
    (Hang(applied=True), "*", "Hang has no effect"),
    (Lapse(), "batch*", "Lapse has no effect"),
    (Fail(code="amqp:not-found"), "batch", "an HTTP status here"),
]


@pytest.mark.parametrize(("action", "operation", "text"), _POINTLESS)
def test_a_fault_that_could_never_strike_is_refused(
    action: Action, operation: str, text: str
) -> None:
    faults = Faults()
    faults.aim_at(_TARGETS)
    with pytest.raises(ValueError, match=text):
        faults.add(action, operation=operation)
    assert [*faults] == []


@pytest.mark.parametrize(
    ("action", "operation"),
    [(Drop(applied=True), "batch*"), (Fail(code=409), "batch_create"), (Lapse(), "*")],
)
def test_a_fault_that_may_strike_somewhere_is_accepted(action: Action, operation: str) -> None:
    faults = Faults()
    faults.aim_at(_TARGETS)
    assert [faults.add(action, operation=operation)] == [*faults]


def test_faults_set_before_the_emulator_has_them_are_checked_too() -> None:
    faults = Faults()
    faults.add(Drop(applied=True), operation="craete")
    with pytest.raises(ValueError, match="no operation 'craete'"):
        faults.aim_at(_TARGETS)
