"""An emulator of Azure Cosmos DB for NoSQL: its REST protocol over http, in memory.

A request comes in through `rest`: `server` reads it and lets faults strike, `routing` finds the
operation, `items`, `feeds` and `resources` carry it out. What an account holds, and what a
transaction does to it, is decided in `store`, without input, output or clock; `sql` reads and
evaluates queries.
"""

from __future__ import annotations

from local_azure.cosmos.config import ConfigError, load_containers
from local_azure.cosmos.rest.server import LocalCosmos
from local_azure.cosmos.rest.service import EMULATOR_KEY
from local_azure.cosmos.store.properties import ContainerProperties

__all__ = [
    "EMULATOR_KEY",
    "ConfigError",
    "ContainerProperties",
    "LocalCosmos",
    "load_containers",
]
