"""The timer of all entities."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from emulators.tests.servicebus.test_queue import Note
from local_azure.clock import Clock
from local_azure.events import EventLog
from local_azure.servicebus import QueueProperties
from local_azure.servicebus.broker.entities import Entities
from local_azure.servicebus.expiry import Expiry

if TYPE_CHECKING:
    import pytest


async def test_a_failure_in_one_entity_does_not_stop_the_time(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    entities: Entities[Note] = Entities(EventLog())
    for name in ("broken", "sound"):
        entities.create_queue(name, QueueProperties())

    def fail(*_: Any) -> None:
        raise LookupError

    monkeypatch.setattr(entities.queues["broken"], "_activate", fail)
    clock = Clock(frozen_at=0)
    for number, queue in enumerate(entities.queues.values()):
        queue.send([Note(scheduled_for=1), Note(scheduled_for=2 + number)], clock.now())
    expiry = Expiry(entities, clock)
    entities.on_due = expiry.due
    running = asyncio.create_task(expiry.run())
    for _ in range(4):
        clock.advance(1)
        await asyncio.sleep(0.01)
    assert not running.done()
    running.cancel()
    assert entities.queues["sound"].active_count == 2
    failures = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert ["'broken'" in record.getMessage() for record in failures] == [True, True]
