"""Azure Cosmos DB as the store: the account, its containers, and what their errors mean."""

from __future__ import annotations

from idempotent_consumer.cosmos.account import CosmosAccount
from idempotent_consumer.cosmos.store import CosmosStore

__all__ = ["CosmosAccount", "CosmosStore"]
