"""Creates the containers of `infra/local/cosmos.json` in a local Cosmos DB emulator.

The embedded emulator reads that file itself; Microsoft's starts empty. What exists stays.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

from azure.core.exceptions import AzureError
from azure.cosmos import CosmosClient, PartitionKey

from idempotent_consumer.settings import COSMOS_EMULATOR

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

CONTAINERS = Path(__file__).parent / "local" / "cosmos.json"


def create_containers(connection_string: str) -> list[str]:
    """Creates what is missing; answers with the paths of all containers."""
    client = CosmosClient.from_connection_string(
        connection_string, retry_connect=0, retry_read=0, connection_timeout=5
    )
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


def once_it_answers(step: Callable[[], Result], seconds: float, *, pause: float = 1.0) -> Result:
    """The step's result; an emulator that does not answer yet, or with 5xx, is asked again."""
    deadline = monotonic() + seconds
    while True:
        try:
            return step()
        except AzureError as error:
            if getattr(error, "status_code", 500) < 500 or monotonic() >= deadline:
                raise
        sleep(pause)


def main() -> None:
    """Runs the command."""
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cosmos", default=COSMOS_EMULATOR, help="the connection string")
    parser.add_argument("--wait", type=float, default=180.0, help="seconds, until it answers")
    asked = parser.parse_args()
    paths = once_it_answers(lambda: create_containers(asked.cosmos), asked.wait)
    sys.stdout.writelines(f"{path}\n" for path in paths)


if __name__ == "__main__":
    main()
