"""Creates the containers of `infra/local/cosmos.json` in a local Cosmos DB emulator.

The embedded emulator reads that file itself; Microsoft's starts empty. What exists stays.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path

from azure.cosmos import CosmosClient, PartitionKey

from idempotent_consumer.settings import COSMOS_EMULATOR

CONTAINERS = Path(__file__).parent / "local" / "cosmos.json"


def create_containers(connection_string: str) -> list[str]:
    """Creates what is missing; answers with the paths of all containers."""
    client = CosmosClient.from_connection_string(connection_string)
    paths = []
    for listed in json.loads(CONTAINERS.read_text("utf-8"))["databases"]:
        database = client.create_database_if_not_exists(listed["id"])
        for container in listed["containers"]:
            (path,) = container["partitionKey"]["paths"]
            key = PartitionKey(path, version=container["partitionKey"]["version"])
            database.create_container_if_not_exists(
                container["id"], key, default_ttl=container["defaultTtl"]
            )
            paths.append(f"{listed['id']}/{container['id']}")
    return paths


def main() -> None:
    """Runs the command."""
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cosmos", default=COSMOS_EMULATOR, help="the connection string")
    sys.stdout.writelines(f"{path}\n" for path in create_containers(parser.parse_args().cosmos))


if __name__ == "__main__":
    main()
