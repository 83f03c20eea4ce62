"""The fixtures ``local_cosmos`` and ``local_service_bus``, for async and for other tests.

Off unless asked for, in the ``conftest.py`` at the root of the tests::

    pytest_plugins = ["local_azure.pytest_plugin"]

Every test that uses a fixture has an emulator to itself, with its own documents, queues,
faults, events and clock; the thread that they run in is started once a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from local_azure.background import BackgroundLoop
from local_azure.clock import Clock
from local_azure.cosmos import LocalCosmos
from local_azure.events import EventLog
from local_azure.servicebus import LocalServiceBus, QueueProperties

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from local_azure.cosmos import ContainerProperties


@pytest.fixture(scope="session")
def local_azure_loop() -> Iterator[BackgroundLoop]:
    """The loop that all emulators of a run listen on."""
    with BackgroundLoop() as loop:
        yield loop


@pytest.fixture
def local_azure_clock() -> Clock:
    """The clock of a test's emulators; to be overridden for one that stands still."""
    return Clock()


@pytest.fixture
def local_azure_events() -> EventLog:
    """The log that a test's emulators share."""
    return EventLog()


@pytest.fixture
def local_cosmos_containers() -> Mapping[str, str] | Iterable[ContainerProperties]:
    """The containers that exist from the start; to be overridden."""
    return ()


@pytest.fixture
def local_service_bus_entities() -> Mapping[str, QueueProperties]:
    """The entities that exist, as `LocalServiceBus` takes them; to be overridden."""
    return {"queue": QueueProperties()}


@pytest.fixture
def local_cosmos(
    local_azure_loop: BackgroundLoop,
    local_azure_clock: Clock,
    local_azure_events: EventLog,
    local_cosmos_containers: Mapping[str, str] | Iterable[ContainerProperties],
) -> Iterator[LocalCosmos]:
    """An account of the test's own."""
    cosmos = LocalCosmos(
        local_cosmos_containers, clock=local_azure_clock, events=local_azure_events
    )
    with local_azure_loop.entered(cosmos):
        yield cosmos


@pytest.fixture
def local_service_bus(
    local_azure_loop: BackgroundLoop,
    local_azure_clock: Clock,
    local_azure_events: EventLog,
    local_service_bus_entities: Mapping[str, QueueProperties],
) -> Iterator[LocalServiceBus]:
    """A namespace of the test's own."""
    bus = LocalServiceBus(
        local_service_bus_entities, clock=local_azure_clock, events=local_azure_events
    )
    with local_azure_loop.entered(bus):
        yield bus
