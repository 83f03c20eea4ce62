"""What an indexing policy can serve: ``ORDER BY`` fails where no index has the order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos.errors import bad_request
from local_azure.cosmos.store.paths import steps_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOT_INDEXED: Final = "none"
_MODES: Final = frozenset({"consistent", "lazy", NOT_INDEXED})
_ROOTS: Final = frozenset({"/", "/*"})
_ALWAYS_INDEXED: Final = frozenset({("id",), ("_ts",)})

Path = tuple[str, ...]


def checked_policy(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    """The policy itself, if its paths are such and say what becomes of the root."""
    for index in _list(policy.get("compositeIndexes", [])):
        _paths(index)
    paths = [*_paths(policy.get("includedPaths", [])), *_paths(policy.get("excludedPaths", []))]
    if paths and _ROOTS.isdisjoint(paths):
        raise bad_request(
            'The special mandatory indexing path "/*" is not provided in any of the path type '
            "sets. Please provide this path in one of the sets."
        )
    mode = policy.get("indexingMode", "consistent")
    if not isinstance(mode, str) or mode.lower() not in _MODES:
        raise bad_request("The indexingMode is 'consistent', 'lazy' or 'none'.")
    return {**policy, "indexingMode": mode.lower()}


def _paths(entries: object) -> list[str]:
    return [_path(entry) for entry in _list(entries)]


def _path(entry: object) -> str:
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str) or not path.startswith("/"):
        raise bad_request("Every entry of an indexing policy has a path that starts with '/'.")
    return path


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise bad_request("The paths and indexes of an indexing policy are lists.")
    return value


def check_order(policy: Mapping[str, Any], order: Sequence[tuple[Path, bool]]) -> None:
    """Raises 400 unless an index has this order.

    Args:
        policy: The container's indexing policy.
        order: Paths, and whether each goes down.
    """
    if len(order) > 1 and order not in _composite_orders(policy):
        raise bad_request(
            "The order by query does not have a corresponding composite index that it can be "
            "served from."
        )
    if len(order) == 1 and not _is_indexed(policy, order[0][0]):
        raise bad_request(
            "The index path corresponding to the specified order-by item is excluded."
        )


def _composite_orders(policy: Mapping[str, Any]) -> list[list[tuple[Path, bool]]]:
    """The orders of the composite indexes; each can be read from its other end too."""
    orders = []
    for index in policy.get("compositeIndexes", []):
        paths = [(steps_of(entry["path"]), entry.get("order") == "descending") for entry in index]
        orders += [paths, [(path, not down) for path, down in paths]]
    return orders


def _is_indexed(policy: Mapping[str, Any], path: Path) -> bool:
    """The longest matching path of the policy decides; what it does not name is indexed."""
    if policy.get("indexingMode") == NOT_INDEXED:
        return False
    if path in _ALWAYS_INDEXED:
        return True
    included = _closest(policy.get("includedPaths", []), path)
    return included >= _closest(policy.get("excludedPaths", []), path)


def _closest(entries: Sequence[Mapping[str, Any]], path: Path) -> int:
    """Length of the longest entry that covers the path, one of its own winning; -1 if none."""
    lengths = [-1]
    for entry in entries:
        *prefix, end = steps_of(entry["path"])
        if end == "*" and list(path[: len(prefix)]) == prefix:
            lengths.append(2 * len(prefix))
        if end == "?" and list(path) == prefix:
            lengths.append(2 * len(prefix) + 1)
    return max(lengths)
