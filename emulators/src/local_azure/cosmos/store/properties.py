"""What a container is created with: its partition key, time to live, unique keys, indexing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos.errors import bad_request, not_emulated
from local_azure.cosmos.store.indexing import NOT_INDEXED, checked_policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_TTL: Final = 2**31 - 1
NO_EXPIRY: Final = -1
_MAX_RESOURCE_ID: Final = 255
_MAX_PARTITION_KEY_PATHS: Final = 3
_HASH_VERSION_OF_HIERARCHIES: Final = 2
_MAX_UNIQUE_KEYS: Final = 10
_MAX_UNIQUE_KEY_PATHS: Final = 16
_FORBIDDEN_IN_RESOURCE_IDS: Final = frozenset("/\\#?")

DEFAULT_INDEXING_POLICY: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": '/"_etag"/?'}],
    }
)

_READ: Final = frozenset({"id", "partitionKey", "defaultTtl", "uniqueKeyPolicy", "indexingPolicy"})
_WITHOUT_EFFECT: Final = frozenset({"conflictResolutionPolicy", "geospatialConfig"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerProperties:
    """A container's settings.

    Attributes:
        database: The database's id.
        id: The container's id.
        partition_key_paths: One path such as ``/orderId``, or up to three of a hierarchy.
        hash_version: 2 hashes a partition key's whole value, 1 its first 101 bytes.
        default_ttl: Seconds that a document lives after its last write; -1 switches expiry
            on for documents that have a ``ttl`` of their own; ``None`` switches it off.
        unique_keys: Sets of paths whose values together are unique within a partition.
        indexing_policy: Kept and shown; nothing is indexed.
    """

    database: str
    id: str
    partition_key_paths: tuple[str, ...]
    hash_version: int = 2
    default_ttl: int | None = None
    unique_keys: tuple[tuple[str, ...], ...] = ()
    indexing_policy: Mapping[str, Any] = field(default_factory=lambda: DEFAULT_INDEXING_POLICY)

    def as_json(self) -> dict[str, Any]:
        """The settings as the service shows them."""
        kind = "Hash" if len(self.partition_key_paths) == 1 else "MultiHash"
        shown = {
            "id": self.id,
            "indexingPolicy": dict(self.indexing_policy),
            "partitionKey": {
                "paths": list(self.partition_key_paths),
                "kind": kind,
                "version": self.hash_version,
            },
            "uniqueKeyPolicy": {"uniqueKeys": [{"paths": list(key)} for key in self.unique_keys]},
            "conflictResolutionPolicy": {
                "mode": "LastWriterWins",
                "conflictResolutionPath": "/_ts",
                "conflictResolutionProcedure": "",
            },
            "geospatialConfig": {"type": "Geography"},
        }
        return shown if self.default_ttl is None else shown | {"defaultTtl": self.default_ttl}

    def replaced_by(self, body: object) -> ContainerProperties:
        """These settings after a replace; partition key and unique keys never change."""
        wanted = container_properties(self.database, body)
        if "uniqueKeyPolicy" not in _object(body, "The container"):
            wanted = replace(wanted, unique_keys=self.unique_keys)
        for name in ("id", "partition_key_paths", "hash_version", "unique_keys"):
            if getattr(wanted, name) != getattr(self, name):
                raise bad_request(f"The container's {name} cannot be changed by a replace.")
        return wanted


def resource_id(body: object) -> str:
    """The id of a database or container that a body defines."""
    name = _object(body, "The resource").get("id")
    if not isinstance(name, str) or not 0 < len(name) <= _MAX_RESOURCE_ID:
        raise bad_request(
            "The resource name is invalid. Ensure to provide a unique non-empty string "
            f"less than '{_MAX_RESOURCE_ID}' characters."
        )
    if name.endswith(" ") or _FORBIDDEN_IN_RESOURCE_IDS & {*name}:
        raise bad_request(
            "The resource name is invalid. "
            "It contains '/', '\\', '#' or '?', or it ends with a space."
        )
    return name


def container_properties(database: str, body: object) -> ContainerProperties:
    """Reads a container's body as REST and ``cosmos.json`` write it; `CosmosError` if refused."""
    given = _object(body, "The container")
    _refuse_unknown(given)
    partition_key = _object(given.get("partitionKey"), "'partitionKey'")
    policy = checked_policy(_object(given.get("indexingPolicy", {}), "'indexingPolicy'"))
    paths = _partition_key_paths(partition_key)
    return ContainerProperties(
        database=database,
        id=resource_id(body),
        partition_key_paths=paths,
        hash_version=_hash_version(partition_key, paths),
        default_ttl=_default_ttl(given, policy),
        unique_keys=_unique_keys(_object(given.get("uniqueKeyPolicy", {}), "'uniqueKeyPolicy'")),
        indexing_policy={**DEFAULT_INDEXING_POLICY, **policy},
    )


def is_ttl(value: object) -> bool:
    """Whether a value may be a ``ttl`` or a ``defaultTtl``."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return value == NO_EXPIRY or 0 < value <= MAX_TTL


def _refuse_unknown(given: Mapping[str, Any]) -> None:
    for name in given.keys() - _READ - _WITHOUT_EFFECT:
        if not name.startswith("_"):
            raise not_emulated(f"the container property {name!r}")


def _partition_key_paths(partition_key: Mapping[str, Any]) -> tuple[str, ...]:
    paths = _paths(partition_key)
    expected = ("Hash",) if len(paths) == 1 else ("MultiHash",)
    if len(paths) > _MAX_PARTITION_KEY_PATHS or partition_key.get("kind", "Hash") not in expected:
        raise bad_request(
            "The partition key has one path of kind 'Hash', or two or three of kind 'MultiHash'."
        )
    if len({*paths}) < len(paths):
        raise bad_request("The paths of a partition key are different ones.")
    return paths


def _hash_version(partition_key: Mapping[str, Any], paths: Sequence[str]) -> int:
    version = partition_key.get("version", 1)
    if isinstance(version, bool) or version not in (1, 2):
        raise bad_request("The partition key's version is 1 or 2.")
    if len(paths) > 1 and version != _HASH_VERSION_OF_HIERARCHIES:
        raise bad_request("A partition key of kind 'MultiHash' has version 2.")
    return int(version)


def _default_ttl(given: Mapping[str, Any], policy: Mapping[str, Any]) -> int | None:
    ttl = given.get("defaultTtl")
    if ttl is not None and not is_ttl(ttl):
        raise bad_request(
            "The input defaultTtl is invalid: it is -1 or a positive number of seconds."
        )
    if ttl is not None and policy.get("indexingMode") == NOT_INDEXED:
        raise bad_request("A container whose indexingMode is 'none' has no defaultTtl.")
    return ttl


def _unique_keys(policy: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    keys = policy.get("uniqueKeys", [])
    if not isinstance(keys, list):
        raise bad_request("'uniqueKeys' is a list.")
    found = tuple(_paths(_object(key, "A unique key")) for key in keys)
    if len(found) > _MAX_UNIQUE_KEYS:
        raise bad_request(f"A container has at most {_MAX_UNIQUE_KEYS} unique keys.")
    if any(len(paths) > _MAX_UNIQUE_KEY_PATHS for paths in found):
        raise bad_request(f"A unique key has at most {_MAX_UNIQUE_KEY_PATHS} paths.")
    return found


def _paths(holder: Mapping[str, Any]) -> tuple[str, ...]:
    paths = holder.get("paths")
    if not isinstance(paths, list) or not paths:
        raise bad_request("'paths' is a list of at least one path.")
    if not all(isinstance(path, str) and len(path) > 1 and path[0] == "/" for path in paths):
        raise bad_request("Every path starts with '/' and names a property.")
    return tuple(paths)


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise bad_request(f"{what} is not a JSON object.")
    return value
