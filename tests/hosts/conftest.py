"""An emulated queue, a client of it, and a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.servicebus.client import client_from_connection_string
from idempotent_consumer.testing import MemoryStore
from tests.hosts.emulated import local_bus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus.aio import ServiceBusClient

    from local_azure.servicebus import LocalServiceBus


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    async with local_bus() as bus:
        yield bus


@pytest.fixture
async def client(bus: LocalServiceBus) -> AsyncIterator[ServiceBusClient]:
    async with client_from_connection_string(bus.connection_string) as client:
        yield client


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()
