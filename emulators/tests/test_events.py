"""The log that tests assert on."""

from __future__ import annotations

import threading

from local_azure.events import Event, EventLog


def _event(name: str) -> Event:
    return Event(at=0, service="servicebus", name=name, entity="orders")


def test_what_another_thread_logs_during_a_clear_is_kept() -> None:
    log = EventLog()
    log.add(_event("old"))
    writer = threading.Thread(target=log.add, args=(_event("new"),))

    def which(event: Event) -> bool:
        writer.start()
        writer.join(0.05)
        return event.name == "old"

    log.clear(which)
    writer.join()
    assert [event.name for event in log] == ["new"]


def test_a_condition_may_look_into_the_log() -> None:
    log = EventLog()
    log.add(_event("sent"))
    log.clear(lambda event: event in log.of("sent"))
    assert list(log) == []
