"""``cosmos.json``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from local_azure.cosmos import ConfigError, ContainerProperties, load_containers

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = {"id": "orders", "partitionKey": {"paths": ["/orderId"], "version": 2}, "defaultTtl": -1}


def _load(folder: Path, config: Any) -> list[ContainerProperties]:
    path = folder / "cosmos.json"
    path.write_text(json.dumps(config), encoding="utf-8-sig")
    return load_containers(path)


def test_containers_are_read_as_rest_bodies(tmp_path: Path) -> None:
    hierarchy = {"paths": ["/a", "/b"], "kind": "MultiHash", "version": 2}
    stock = {"id": "stock", "partitionKey": hierarchy}
    old = {"id": "old", "partitionKey": {"paths": ["/a"]}}
    found = _load(tmp_path, {"databases": [{"id": "shop", "containers": [ORDERS, stock, old]}]})
    assert [(each.database, each.id, each.partition_key_paths) for each in found] == [
        ("shop", "orders", ("/orderId",)),
        ("shop", "stock", ("/a", "/b")),
        ("shop", "old", ("/a",)),
    ]
    settings = [(each.hash_version, each.default_ttl) for each in found]
    assert settings == [(2, -1), (2, None), (1, None)]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ([], "$.databases: a list"),
        ({"databases": []}, "$.databases: a list"),
        ({"databases": [5]}, "$.databases[0]: not an object"),
        ({"databases": [{"id": "shop"}]}, "$.databases[0].containers: a list"),
        ({"databases": [{"containers": [ORDERS]}]}, "non-empty string"),
        ({"databases": [{"id": "a/b", "containers": [ORDERS]}]}, "It contains '/'"),
        ({"databases": [{"id": "s", "containers": [ORDERS], "x": 1}]}, "$.databases[0].x: unknown"),
        ({"databases": [{"id": "s", "containers": [ORDERS, ORDERS]}]}, "s/orders: defined twice"),
        ({"databases": [{"id": "s", "containers": [ORDERS | {"ttl": 1}]}]}, "'ttl'"),
    ],
    ids=range(9),
)
def test_a_configuration_that_cannot_be_used_says_where(
    tmp_path: Path, config: Any, problem: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        _load(tmp_path, config)
    assert problem in str(refused.value)


def test_every_problem_is_listed(tmp_path: Path) -> None:
    broken = [ORDERS | {"defaultTtl": 0}, ORDERS | {"partitionKey": {}}]
    with pytest.raises(ConfigError) as refused:
        _load(tmp_path, {"databases": [{"id": "shop", "containers": broken}], "more": 1})
    assert len(str(refused.value).splitlines()) == 3


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cosmos.json"
    path.write_bytes(b"{")
    with pytest.raises(ConfigError, match="not a JSON document"):
        load_containers(path)
