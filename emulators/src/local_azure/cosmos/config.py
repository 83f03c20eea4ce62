"""``cosmos.json``: the databases and containers that the command starts with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from local_azure.cosmos.errors import CosmosError
from local_azure.cosmos.store.properties import container_properties, resource_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from local_azure.cosmos.store.properties import ContainerProperties


class ConfigError(ValueError):
    """A configuration that cannot be used; the text lists every problem, one a line."""


def load_containers(path: Path) -> list[ContainerProperties]:
    """Reads ``{"databases": [{"id": ..., "containers": [<body as in REST>, ...]}]}``.

    Raises:
        ConfigError: With every problem found.
    """
    problems: list[str] = []
    found = list(_containers(_parsed(path.read_bytes()), problems))
    names = [f"{properties.database}/{properties.id}" for properties in found]
    problems += [f"{name}: defined twice" for name in sorted({*names}) if names.count(name) > 1]
    if problems:
        raise ConfigError("\n".join(problems))
    return found


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig"))
    except ValueError as error:
        raise ConfigError(f"not a JSON document: {error}") from error


def _containers(config: Any, problems: list[str]) -> Iterator[ContainerProperties]:
    for where, database in _objects(config, "$", "databases", problems):
        for place, container in _objects(database, where, "containers", problems):
            try:
                yield container_properties(resource_id(database), container)
            except CosmosError as error:
                problems.append(f"{place}: {error.message}")


def _objects(
    holder: Any, where: str, name: str, problems: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a list that is the only other property of its holder."""
    items = holder.get(name) if isinstance(holder, dict) else None
    if not isinstance(items, list) or not items:
        problems.append(f"{where}.{name}: a list of at least one object is needed")
        return
    unknown = holder.keys() - {"id", name}
    problems += [f"{where}.{other}: unknown property" for other in sorted(unknown)]
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield f"{where}.{name}[{index}]", item
        else:
            problems.append(f"{where}.{name}[{index}]: not an object")
