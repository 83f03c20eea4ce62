"""An emulator of Azure Cosmos DB for NoSQL: its REST protocol over http, in memory."""

from __future__ import annotations

from local_azure.cosmos.config import ConfigError, load_containers
from local_azure.cosmos.properties import ContainerProperties
from local_azure.cosmos.server import LocalCosmos
from local_azure.cosmos.service import EMULATOR_KEY

__all__ = [
    "EMULATOR_KEY",
    "ConfigError",
    "ContainerProperties",
    "LocalCosmos",
    "load_containers",
]
