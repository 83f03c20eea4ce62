"""Which faults the emulator takes, and where one that is none of its own would be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from local_azure.cosmos import LocalCosmos
from local_azure.faults import Delay, Drop, Fail, Faults, Hang, Lapse, Overtake

if TYPE_CHECKING:
    from local_azure.faults import Action

_DROP = Drop(applied=True)


@pytest.mark.parametrize(
    ("action", "operation"),
    [
        (_DROP, "craete"),
        (_DROP, "send"),
        (_DROP, "batch_create"),
        (Delay(seconds=1), "batch_*"),
        (Lapse(), "*"),
        (Overtake(), "*"),
        (Fail(code="amqp:not-found"), "create"),
    ],
    ids=str,
)
def test_a_fault_that_could_never_strike_is_refused(action: Action, operation: str) -> None:
    given = Faults()
    given.add(action, operation=operation)
    with pytest.raises(ValueError, match="here"):
        LocalCosmos(faults=given)
    with pytest.raises(ValueError, match="here"):
        LocalCosmos().faults.add(action, operation=operation)


@pytest.mark.parametrize(
    ("action", "operation"),
    [
        (Fail(code=403, sub_status=5301), "*"),
        (_DROP, "read_*"),
        (Hang(applied=False), "change_feed"),
        (Fail(code=409), "batch_create"),
        (_DROP, "query_plan"),
        (_DROP, "other"),
    ],
    ids=str,
)
def test_a_fault_that_may_strike_is_taken(action: Action, operation: str) -> None:
    faults = LocalCosmos().faults
    assert [faults.add(action, operation=operation)] == [*faults]
