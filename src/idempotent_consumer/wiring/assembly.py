"""An engine on its store, by the settings."""

from __future__ import annotations

import random
import secrets
from typing import TYPE_CHECKING

from azure.identity.aio import DefaultAzureCredential

from idempotent_consumer.cosmos import CosmosAccount, CosmosStore
from idempotent_consumer.engine.circuit import Circuit
from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.engine.engine import Engine

if TYPE_CHECKING:
    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.engine.ports import Clock, Telemetry
    from idempotent_consumer.settings import CosmosSettings, Settings


class Assembly:
    """A consumer's engine on Azure Cosmos DB, and what has to be closed with it.

    Nothing is connected before the first message.
    """

    def __init__(self, consumer: Consumer, settings: Settings, telemetry: Telemetry) -> None:
        self.clock: Clock = SystemClock()
        self._credential = _credential(settings.cosmos)
        self._account = CosmosAccount(
            settings.cosmos.endpoint, settings.cosmos.key or self._credential
        )
        store = CosmosStore(self._account, consumer.container)
        circuit = Circuit(
            store.probe, container=consumer.container.path, clock=self.clock, telemetry=telemetry
        )
        self.engine = Engine(
            consumer,
            store,
            circuit,
            profile=settings.profile,
            clock=self.clock,
            telemetry=telemetry,
            chance=random.random,
            new_token=lambda: secrets.token_hex(16),
        )

    async def aclose(self) -> None:
        """Closes the connections to Cosmos DB."""
        await self._account.close()
        await self._credential.close()


def _credential(settings: CosmosSettings) -> DefaultAzureCredential:
    """The identity of this process; not asked for anything where a key is used."""
    return DefaultAzureCredential(managed_identity_client_id=settings.client_id)
