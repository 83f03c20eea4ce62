"""What each environment's deployment holds, read from `infra/build`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from infra import compile_bicep, generate

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILD = compile_bicep.BUILD
ENVIRONMENTS = compile_bicep.ENVIRONMENTS
CONTRACT = generate.load_contract()
TEMPLATE: dict[str, Any] = json.loads((BUILD / "main.json").read_text("utf-8"))
SNAPSHOTS: dict[str, dict[str, Any]] = {
    name: json.loads((BUILD / f"main.{name}.snapshot.json").read_text("utf-8"))
    for name in ENVIRONMENTS
}

QUEUES = "Microsoft.ServiceBus/namespaces/queues"
NAMESPACES = "Microsoft.ServiceBus/namespaces"
ACCOUNTS = "Microsoft.DocumentDB/databaseAccounts"
CONTAINERS = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers"
ROLES = "Microsoft.Authorization/roleAssignments"
COSMOS_ROLES = "Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments"
SITES = "Microsoft.Web/sites"
STORAGE = "Microsoft.Storage/storageAccounts"
WORKSPACES = "Microsoft.OperationalInsights/workspaces"
LOG_ALERTS = "Microsoft.Insights/scheduledQueryRules"
METRIC_ALERTS = "Microsoft.Insights/metricAlerts"
ACTION_GROUPS = "Microsoft.Insights/actionGroups"
WORKBOOKS = "Microsoft.Insights/workbooks"


def resources(environment: str) -> list[dict[str, Any]]:
    """All that is deployed."""
    deployed: list[dict[str, Any]] = SNAPSHOTS[environment]["predictedResources"]
    return deployed


def of_type(environment: str, kind: str) -> list[dict[str, Any]]:
    """Each resource of a type."""
    return [resource for resource in resources(environment) if resource["type"] == kind]


def only(environment: str, kind: str) -> dict[str, Any]:
    """The one resource of a type."""
    (resource,) = of_type(environment, kind)
    return resource


def suffix(environment: str) -> str:
    """What the names of a deployment end with."""
    return str(only(environment, ACTION_GROUPS)["name"]).removeprefix("ag-")


def alerts(environment: str, kind: str) -> dict[str, dict[str, Any]]:
    """The alerts of a type, by the names of their runbooks."""
    ending = f"-{suffix(environment)}"
    return {
        alert["name"].removesuffix(ending): alert["properties"]
        for alert in of_type(environment, kind)
    }


def app_settings(environment: str) -> dict[str, str]:
    """The function app's settings; an expression where only Azure knows the value."""
    settings = only(environment, SITES)["properties"]["siteConfig"]["appSettings"]
    return {setting["name"]: setting["value"] for setting in settings}


def profile(environment: str) -> dict[str, Any]:
    """The environment's profile of the contract."""
    return generate.profile(CONTRACT, environment)


def templates(template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The template and each that it nests."""
    yield template
    for resource in template["resources"].values():
        if nested := resource.get("properties", {}).get("template"):
            yield from templates(nested)
