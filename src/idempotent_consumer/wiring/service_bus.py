"""A Service Bus client by the settings."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from azure.identity.aio import DefaultAzureCredential

from idempotent_consumer.servicebus.client import (
    client_from_connection_string,
    client_from_identity,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus.aio import ServiceBusClient

    from idempotent_consumer.settings import ServiceBusSettings


@asynccontextmanager
async def service_bus(settings: ServiceBusSettings) -> AsyncIterator[ServiceBusClient]:
    """The client, closed with the context. It connects when it is used."""
    if settings.connection_string is not None:
        async with client_from_connection_string(settings.connection_string) as client:
            yield client
    else:
        identity = DefaultAzureCredential(managed_identity_client_id=settings.client_id)
        async with identity, client_from_identity(settings.namespace or "", identity) as client:
            yield client
