"""An engine on its store, by the settings."""

from __future__ import annotations

import random
import secrets
from typing import TYPE_CHECKING

from azure.identity.aio import DefaultAzureCredential

from idempotent_consumer.cosmos import CosmosAccount, CosmosStore
from idempotent_consumer.engine.circuit import Circuit
from idempotent_consumer.engine.engine import Engine

if TYPE_CHECKING:
    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.engine.ports import Clock, Telemetry
    from idempotent_consumer.settings import CosmosSettings


class CosmosConnection:
    """An account, and the identity that opens it; connected with the first message."""

    def __init__(self, settings: CosmosSettings) -> None:
        # Not asked for anything where a key is used.
        self._credential = DefaultAzureCredential(managed_identity_client_id=settings.client_id)
        self.account = CosmosAccount(settings.endpoint, settings.key or self._credential)

    async def aclose(self) -> None:
        """Closes the connections to Cosmos DB."""
        await self.account.close()
        await self._credential.close()


def assemble(
    consumer: Consumer,
    account: CosmosAccount,
    *,
    profile: Profile,
    clock: Clock,
    telemetry: Telemetry,
) -> Engine:
    """The consumer's engine on its container."""
    store = CosmosStore(account, consumer.container)
    return Engine(
        consumer,
        store,
        Circuit(store.probe, container=consumer.container.path, clock=clock, telemetry=telemetry),
        profile=profile,
        clock=clock,
        telemetry=telemetry,
        chance=random.random,
        new_token=lambda: secrets.token_hex(16),
    )
