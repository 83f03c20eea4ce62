"""What is due when and what is received next, and that neither remembers what is over."""

from __future__ import annotations

from local_azure.servicebus.broker.agenda import NEVER, Agenda
from local_azure.servicebus.broker.backlog import Backlog

_MANY = 10_000


def test_things_are_due_by_time_and_in_the_order_they_were_added() -> None:
    agenda: Agenda[str] = Agenda()
    for moment, what in ((5, "c"), (1, "a"), (1, "b"), (NEVER, "never"), (9, "later")):
        agenda.add(moment, what)
    assert agenda.next() == 1
    assert list(agenda.due(5)) == ["a", "b", "c"]
    assert agenda.next() == 9


def test_a_thing_is_due_once_at_the_time_said_last_unless_it_is_cancelled() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add(1, "moved")
    agenda.add(3, "moved")
    agenda.add(2, "cancelled")
    agenda.cancel("cancelled")
    agenda.cancel("unknown")
    assert agenda.next() == 3
    assert list(agenda.due(9)) == ["moved"]
    assert agenda.next() == NEVER


def test_an_agenda_forgets_what_was_cancelled_or_moved() -> None:
    agenda: Agenda[int] = Agenda()
    agenda.add(0, -1)
    for number in range(_MANY):
        agenda.add(number, number)
        agenda.cancel(number)
        agenda.add(number, -2)
    assert len(agenda) < 100
    assert list(agenda.due(_MANY)) == [-1, -2]


def test_a_backlog_forgets_what_is_over_although_nobody_receives() -> None:
    alive = {0}
    backlog = Backlog(alive)
    backlog.add("lasting", 0)
    for number in range(1, _MANY):
        alive.add(number)
        backlog.add("lasting", number)
        alive.remove(number)
        alive.add(-number)
        backlog.add(f"line {number}", -number)
        alive.remove(-number)
    assert len(backlog) < 100
    assert backlog.fronts() == {"lasting": 0}
