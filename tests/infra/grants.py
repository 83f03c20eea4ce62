"""Who has which role where: the table, and how it is read from a deployment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from idempotent_consumer.cosmos.advice import DATA_CONTRIBUTOR
from tests.infra.deployed import COSMOS_ROLES, ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

RECEIVER = "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0"
SENDER = "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39"
BLOB_OWNER = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b"
TABLE_CONTRIBUTOR = "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3"
METRICS_PUBLISHER = "3913510d-42f4-4e42-8a64-420c390055eb"
DATA_READER = "00000000-0000-0000-0000-000000000001"

ROLE_NAMES = {
    RECEIVER: "Azure Service Bus Data Receiver",
    BLOB_OWNER: "Storage Blob Data Owner",
    TABLE_CONTRIBUTOR: "Storage Table Data Contributor",
    METRICS_PUBLISHER: "Monitoring Metrics Publisher",
    DATA_CONTRIBUTOR: "Cosmos DB Built-in Data Contributor",
}

CONSUMER = {
    ("consumer", RECEIVER, "Microsoft.ServiceBus/namespaces/{}/queues/orders"),
    (
        "consumer",
        DATA_CONTRIBUTOR,
        "Microsoft.DocumentDB/databaseAccounts/{}/dbs/shop/colls/orders",
    ),
    ("consumer", BLOB_OWNER, "Microsoft.Storage/storageAccounts/{}"),
    ("consumer", TABLE_CONTRIBUTOR, "Microsoft.Storage/storageAccounts/{}"),
    ("consumer", METRICS_PUBLISHER, "Microsoft.Insights/components/{}"),
}
OPERATORS = {
    ("operators", RECEIVER, "Microsoft.ServiceBus/namespaces/{}/queues/orders"),
    ("operators", SENDER, "Microsoft.ServiceBus/namespaces/{}/queues/orders"),
    ("operators", DATA_READER, "Microsoft.DocumentDB/databaseAccounts/{}/dbs/shop/colls/orders"),
}

Grant = tuple[str, str, str]


def grants(deployed: Iterable[dict[str, Any]], operators: str = "") -> set[Grant]:
    """Who has which role where; a resource's own name stands as ``{}``."""
    return {
        (
            principal(resource["properties"]["principalId"], operators),
            resource["properties"]["roleDefinitionId"].rpartition("/")[2],
            scope(resource),
        )
        for resource in deployed
        if resource["type"] in {ROLES, COSMOS_ROLES}
    }


def principal(principal_id: str, operators: str) -> str:
    if principal_id == operators:
        return "operators"
    named = re.search(r"userAssignedIdentities/id-[a-z0-9-]+'.*\.principalId\]$", principal_id)
    return "consumer" if named else principal_id


def scope(resource: dict[str, Any]) -> str:
    """The resource that is granted, after its resource group."""
    own = resource["properties"].get("scope")
    granted = own or resource["id"].partition("/providers/Microsoft.Authorization/")[0]
    provider, kind, _, *rest = granted.partition("/providers/")[2].split("/")
    return "/".join([provider, kind, "{}", *rest])
