"""What holds for every resource, and in what dev and prod may differ."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.infra.deployed import (
    BUILD,
    ENVIRONMENTS,
    NAMESPACES,
    SITES,
    SNAPSHOTS,
    TEMPLATE,
    of_type,
    only,
    resources,
    templates,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

INFRA = BUILD.parent

COUNTS = {"dev": 36, "prod": 59}
"""A resource more or less is seen."""

LONGEST_NAME = {
    "Microsoft.DocumentDB/databaseAccounts": 44,
    "Microsoft.ServiceBus/namespaces": 50,
    "Microsoft.Storage/storageAccounts": 24,
    "Microsoft.Web/sites": 32,  # beyond them, the host's id is cut off and may not be unique
}

UNTAGGED = re.compile(
    r"Microsoft\.Authorization/.*|Microsoft\.Insights/diagnosticSettings|.*/sqlRoleAssignments"
    r"|.*/queues|.*/sqlDatabases.*|.*/blobServices.*|.*/basicPublishingCredentialsPolicies"
    r"|.*/privateDnsZoneGroups"
)

PRIVATE_ONLY = {
    "Microsoft.Network/virtualNetworks",
    "Microsoft.Network/privateEndpoints",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups",
    "Microsoft.Network/privateDnsZones",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks",
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_compiler_has_nothing_to_say(environment: str) -> None:
    assert SNAPSHOTS[environment]["diagnostics"] == []
    assert len(resources(environment)) == COUNTS[environment]


def test_no_source_refers_to_a_registry() -> None:
    for source in [*INFRA.glob("*.bicep"), *INFRA.glob("modules/*.bicep")]:
        assert not re.search(r"'(br|ts)[:/]", source.read_text("utf-8")), source.name


def test_no_template_asks_for_a_key_or_runs_a_script() -> None:
    text = json.dumps(TEMPLATE)
    for forbidden in ("listKeys(", "listConnectionStrings", "AccountKey=", "SharedAccessKey"):
        assert forbidden not in text
    assert "Microsoft.Resources/deploymentScripts" not in text


def test_each_parameter_and_output_is_described() -> None:
    for template in templates(TEMPLATE):
        for part in ("parameters", "outputs"):
            for name, declared in template.get(part, {}).items():
                assert declared.get("metadata", {}).get("description"), name
                assert not declared.get("type", "").startswith("secure"), name


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_preview_of_an_interface_is_used_but_where_there_is_no_other(environment: str) -> None:
    previews = {r["type"] for r in resources(environment) if "preview" in r["apiVersion"]}
    assert previews == {"Microsoft.Insights/diagnosticSettings"}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_resource_tells_what_it_was_built_from(environment: str) -> None:
    digest = SNAPSHOTS[environment]["outputs"]["contractHash"]
    wanted = {"environment": environment, "contract-version": "1", "contract-hash": digest}
    for resource in resources(environment):
        if not UNTAGGED.fullmatch(resource["type"]):
            assert resource["tags"].items() >= wanted.items(), resource["name"]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_name_is_known_and_fits(environment: str) -> None:
    """But for the zones of storage, whose suffix the cloud decides."""
    for resource in resources(environment):
        name = resource["name"]
        assert len(name) <= LONGEST_NAME.get(resource["type"], 260), name
        assert "[" not in name or "suffixes.storage" in name


def private_endpoints(environment: str) -> Iterator[str]:
    for endpoint in of_type(environment, "Microsoft.Network/privateEndpoints"):
        (connection,) = endpoint["properties"]["privateLinkServiceConnections"]
        yield from connection["properties"]["groupIds"]


def test_prod_is_reached_through_private_endpoints_only() -> None:
    closed = {
        resource["type"]
        for resource in resources("prod")
        if resource.get("properties", {}).get("publicNetworkAccess") == "Disabled"
    }
    assert closed == {
        NAMESPACES,
        SITES,
        "Microsoft.DocumentDB/databaseAccounts",
        "Microsoft.Storage/storageAccounts",
    }
    assert sorted(private_endpoints("prod")) == ["Sql", "blob", "namespace", "sites", "table"]
    assert only("prod", NAMESPACES)["sku"]["name"] == "Premium"


def test_each_private_endpoint_is_found_by_name() -> None:
    groups = of_type("prod", "Microsoft.Network/privateEndpoints/privateDnsZoneGroups")
    links = of_type("prod", "Microsoft.Network/privateDnsZones/virtualNetworkLinks")
    assert len(groups) == len(links) == len(list(private_endpoints("prod")))


def test_the_app_reaches_out_through_its_own_subnet() -> None:
    network = only("prod", "Microsoft.Network/virtualNetworks")
    app, endpoints = network["properties"]["subnets"]
    (delegation,) = app["properties"]["delegations"]
    assert delegation["properties"]["serviceName"] == "Microsoft.App/environments"
    assert "delegations" not in endpoints["properties"]
    subnet = only("prod", SITES)["properties"]["virtualNetworkSubnetId"]
    assert subnet == f"{network['id']}/subnets/{app['name']}"


def test_dev_needs_no_network() -> None:
    assert not [resource for resource in resources("dev") if resource["type"] in PRIVATE_ONLY]
    assert only("dev", SITES)["properties"]["virtualNetworkSubnetId"] is None


def test_prod_cannot_be_deleted_by_accident() -> None:
    locks = of_type("prod", "Microsoft.Authorization/locks")
    assert {lock["properties"]["level"] for lock in locks} == {"CanNotDelete"}
    locked = {lock["id"].partition("/providers/Microsoft.Authorization/")[0] for lock in locks}
    kinds = {NAMESPACES, "Microsoft.DocumentDB/databaseAccounts"}
    assert locked == {only("prod", kind)["id"] for kind in kinds}
    assert not of_type("dev", "Microsoft.Authorization/locks")


MAY_DIFFER = {
    "Microsoft.DocumentDB/databaseAccounts": {
        "backupPolicy.continuousModeProperties.tier",
        "capabilities",
        "capabilities.EnableServerless.name",
        "locations.0.isZoneRedundant",
        "publicNetworkAccess",
    },
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers": {
        "options.autoscaleSettings.maxThroughput",
        "options",
    },
    "Microsoft.OperationalInsights/workspaces": {"retentionInDays"},
    "Microsoft.ServiceBus/namespaces": {
        "premiumMessagingPartitions",
        "publicNetworkAccess",
        "zoneRedundant",
    },
    "Microsoft.ServiceBus/namespaces/queues": {"defaultMessageTimeToLive", "userMetadata"},
    "Microsoft.Storage/storageAccounts": {"networkAcls.defaultAction", "publicNetworkAccess"},
    "Microsoft.Web/serverfarms": {"zoneRedundant"},
    "Microsoft.Web/sites": {
        "functionAppConfig.scaleAndConcurrency.maximumInstanceCount",
        "publicNetworkAccess",
        "siteConfig.appSettings.IDEMPOTENT_CONSUMER_PROFILE.value",
        "virtualNetworkSubnetId",
    },
}
"""The paths of `properties` in which prod may be another than dev."""


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The path of each value that holds no further one; an item of a list goes by its name."""
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        own_name = part.get("name", name) if isinstance(part, dict) else name
        here = f"{path}.{own_name}".lstrip(".")
        if isinstance(part, dict | list) and part:
            yield from leaves(part, here)
        else:
            yield here, part


def by_id(environment: str) -> dict[str, dict[str, Any]]:
    return {resource["id"]: resource for resource in resources(environment)}


def test_prod_differs_from_dev_in_what_is_listed_and_in_nothing_else() -> None:
    dev, prod = by_id("dev"), by_id("prod")
    assert dev.keys() <= prod.keys()
    for name, resource in dev.items():
        kind = resource["type"]
        here, there = (
            dict(leaves(found.get("properties", {}))) for found in (resource, prod[name])
        )
        differing = {path for path in here | there if here.get(path) != there.get(path)}
        assert differing <= MAY_DIFFER.get(kind, set()), name
    added = {prod[name]["type"] for name in prod.keys() - dev.keys()}
    assert added == PRIVATE_ONLY | {"Microsoft.Authorization/locks"}
