"""Creates the containers of `infra/local/cosmos.json` in a local Cosmos DB emulator.

The embedded emulator reads that file itself; Microsoft's starts empty. What exists stays, and
is an error where it is another container than the one of the file.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from azure.core.exceptions import AzureError
from azure.cosmos import CosmosClient, PartitionKey

from idempotent_consumer.settings import COSMOS_EMULATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Result = TypeVar("Result")

CONTAINERS = Path(__file__).parent / "local" / "cosmos.json"


class AnotherContainer(Exception):
    """A container of that name exists, and is not what it should be."""


def create_containers(connection_string: str) -> list[str]:
    """Creates what is missing; answers with the paths of all containers.

    Raises:
        AnotherContainer: One exists that differs from the file's.
    """
    client = CosmosClient.from_connection_string(
        connection_string, retry_connect=0, retry_read=0, connection_timeout=5
    )
    paths = []
    for listed in json.loads(CONTAINERS.read_text("utf-8"))["databases"]:
        database = client.create_database_if_not_exists(listed["id"])
        for container in listed["containers"]:
            (path,) = container["partitionKey"]["paths"]
            key = PartitionKey(path, version=container["partitionKey"]["version"])
            found = database.create_container_if_not_exists(
                container["id"], key, default_ttl=container["defaultTtl"]
            )
            paths.append(f"{listed['id']}/{container['id']}")
            existing, wanted = described(found.read()), described(container)
            if existing != wanted:
                raise AnotherContainer(f"{paths[-1]} exists with {existing}; wanted is {wanted}")
    return paths


def described(container: Mapping[str, Any]) -> str:
    """What a container is fixed to, and how long it keeps documents."""
    key = container["partitionKey"]
    return (
        f"partition key {', '.join(key['paths'])}, hash version {key.get('version', 1)}, "
        f"default TTL {container.get('defaultTtl', 'off')}"
    )


def once_it_answers(step: Callable[[], Result], seconds: float, *, pause: float = 1.0) -> Result:
    """The step's result; an emulator that does not answer yet, or with 5xx, is asked again.

    Where there is something to wait for, standard error says what.
    """
    deadline = monotonic() + seconds
    waits = False
    while True:
        try:
            return step()
        except AzureError as error:
            if getattr(error, "status_code", 500) < 500 or monotonic() >= deadline:
                raise
            if not waits:
                reason = first_line(error)
                sys.stderr.write(f"waiting up to {seconds:.0f} s for Cosmos DB: {reason}\n")
            waits = True
        sleep(pause)


def first_line(error: Exception) -> str:
    """What an error says; the SDK's go on with the whole answer."""
    return str(error).partition("\n")[0]


def main(arguments: Sequence[str] | None = None) -> str | None:
    """Runs the command; the text says why it failed."""
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cosmos", default=COSMOS_EMULATOR, help="the connection string")
    parser.add_argument("--wait", type=float, default=180.0, help="seconds, until it answers")
    asked = parser.parse_args(arguments)
    try:
        paths = once_it_answers(lambda: create_containers(asked.cosmos), asked.wait)
    except (AzureError, AnotherContainer) as error:
        return first_line(error)
    sys.stdout.writelines(f"{path}\n" for path in paths)
    return None


if __name__ == "__main__":
    sys.exit(main())
