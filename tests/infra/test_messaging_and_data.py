"""Queue, containers and storage are deployed as the pattern needs them."""

from __future__ import annotations

import pytest

from tests.infra.deployed import (
    ACCOUNTS,
    CONTAINERS,
    CONTRACT,
    ENVIRONMENTS,
    NAMESPACES,
    QUEUES,
    SNAPSHOTS,
    STORAGE,
    WORKSPACES,
    of_type,
    only,
    profile,
    resources,
)

pytestmark = pytest.mark.parametrize("environment", ENVIRONMENTS)


@pytest.mark.case("DEP-07")
def test_each_property_of_the_queue_is_written_out(environment: str) -> None:
    queue = only(environment, QUEUES)
    promised = dict(profile(environment)["queue"])
    assert queue["name"].endswith("/" + promised.pop("name"))
    properties = dict(queue["properties"])
    digest = SNAPSHOTS[environment]["outputs"]["contractHash"]
    assert properties.pop("userMetadata") == f"contract 1 {environment} {digest}"
    assert properties == {
        **promised,
        "enableBatchedOperations": True,
        "enableExpress": False,
        "enablePartitioning": False,
        "maxSizeInMegabytes": 5120,
        "status": "Active",
    }


def test_the_queue_drops_second_sends_and_keeps_what_expires(environment: str) -> None:
    properties = only(environment, QUEUES)["properties"]
    assert properties["requiresDuplicateDetection"]
    assert properties["deadLetteringOnMessageExpiration"]


@pytest.mark.case("SET-01")
def test_the_consumer_gives_up_before_the_broker_does(environment: str) -> None:
    assert only(environment, QUEUES)["properties"]["maxDeliveryCount"] == 100


def test_no_message_is_forwarded_and_no_queue_deletes_itself(environment: str) -> None:
    lossy = {"autoDeleteOnIdle", "forwardTo", "forwardDeadLetteredMessagesTo"}
    assert lossy.isdisjoint(only(environment, QUEUES)["properties"])


def test_no_key_opens_the_namespace(environment: str) -> None:
    namespace = only(environment, NAMESPACES)
    assert namespace["properties"]["disableLocalAuth"]
    assert namespace["properties"]["minimumTlsVersion"] == "1.2"
    assert not [r for r in resources(environment) if r["type"].endswith("/authorizationRules")]


def test_no_key_opens_the_account(environment: str) -> None:
    properties = only(environment, ACCOUNTS)["properties"]
    assert properties["disableLocalAuth"]
    assert properties["disableKeyBasedMetadataWriteAccess"]
    assert properties["minimalTlsVersion"] == "Tls12"


def test_one_region_takes_writes(environment: str) -> None:
    account = only(environment, ACCOUNTS)
    assert account["properties"]["enableMultipleWriteLocations"] is False
    assert [region["failoverPriority"] for region in account["properties"]["locations"]] == [0]
    assert account["kind"] == "GlobalDocumentDB"
    assert account["properties"]["enableFreeTier"] is False


def test_the_account_is_backed_up_all_the_time(environment: str) -> None:
    assert only(environment, ACCOUNTS)["properties"]["backupPolicy"]["type"] == "Continuous"


@pytest.mark.case("TTL-01")
def test_the_containers_are_those_of_the_contract(environment: str) -> None:
    deployed = [item["properties"]["resource"] for item in of_type(environment, CONTAINERS)]
    promised = [
        item for database in CONTRACT["cosmos"]["databases"] for item in database["containers"]
    ]
    assert [{**item, "indexingPolicy": None} for item in deployed] == [
        {**item, "indexingPolicy": None} for item in promised
    ]


def test_an_index_covers_what_people_search_by_and_lets_documents_expire(environment: str) -> None:
    for container in of_type(environment, CONTAINERS):
        policy = container["properties"]["resource"]["indexingPolicy"]
        assert policy["indexingMode"] == "consistent"
        assert policy["excludedPaths"] == [{"path": "/*"}]
        assert {"path": "/*"} not in policy["includedPaths"]
        assert "conflictResolutionPolicy" not in container["properties"]["resource"]


def test_throughput_is_asked_for_only_where_it_is_provisioned(environment: str) -> None:
    capabilities = only(environment, ACCOUNTS)["properties"]["capabilities"]
    serverless = {"name": "EnableServerless"} in capabilities
    for container in of_type(environment, CONTAINERS):
        assert bool(container["properties"]["options"]) is not serverless


def test_no_key_opens_the_storage(environment: str) -> None:
    properties = only(environment, STORAGE)["properties"]
    assert properties["allowSharedKeyAccess"] is False
    assert properties["allowBlobPublicAccess"] is False
    assert properties["supportsHttpsTrafficOnly"] is True
    assert properties["minimumTlsVersion"] == "TLS1_2"


def test_what_service_bus_and_cosmos_db_tell_is_kept(environment: str) -> None:
    settings = of_type(environment, "Microsoft.Insights/diagnosticSettings")
    workspace = only(environment, WORKSPACES)
    told_of = {setting["id"].partition("/providers/Microsoft.Insights/")[0] for setting in settings}
    assert told_of == {only(environment, NAMESPACES)["id"], only(environment, ACCOUNTS)["id"]}
    assert {setting["properties"]["workspaceId"] for setting in settings} == {workspace["id"]}
    assert workspace["properties"]["retentionInDays"] >= 30
