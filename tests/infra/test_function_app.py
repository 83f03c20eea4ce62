"""The function app's settings are those that are read, and hold no secret."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from idempotent_consumer.core.profile import Profile
from idempotent_consumer.settings import PROFILE, read_settings
from tests.infra.deployed import ENVIRONMENTS, SITES, app_settings, of_type, only, profile

pytestmark = pytest.mark.parametrize("environment", ENVIRONMENTS)

OTHERS_READ = {
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING": "host and Azure Monitor exporter",
    "APPLICATIONINSIGHTS_CONNECTION_STRING": "host and Azure Monitor exporter",
    "AZURE_CLIENT_ID": "the log, where it names the identity that lacks a role",
    "AzureWebJobsStorage__accountName": "host",
    "AzureWebJobsStorage__clientId": "host",
    "AzureWebJobsStorage__credential": "host",
    "ORDERS_QUEUE": "the trigger's %ORDERS_QUEUE%",
    "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "Python worker",
    "PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY": "Python worker",
    "ServiceBus__credential": "the trigger's connection",
}

REFUSED_BY_FLEX = {
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_WORKER_RUNTIME",
    "WEBSITE_RUN_FROM_PACKAGE",
}

# What only Azure knows, and the library looks at.
AT_RUN_TIME = {
    "ServiceBus__fullyQualifiedNamespace": "contoso.servicebus.windows.net",
    "Cosmos__accountEndpoint": "https://contoso.documents.azure.com:443/",
    "ServiceBus__clientId": "22222222-2222-2222-2222-222222222222",
    "Cosmos__clientId": "22222222-2222-2222-2222-222222222222",
}


class Asked(dict[str, str]):
    """Settings that know which of them were asked for."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None, /) -> Any:
        self.names.add(name)
        return super().get(name, default)


def test_each_setting_is_read_and_each_that_is_read_is_set(environment: str) -> None:
    deployed = app_settings(environment)
    asked = Asked(deployed | AT_RUN_TIME)
    read_settings(asked)
    by_key = {"ServiceBus", "Cosmos"}
    assert deployed.keys() - OTHERS_READ.keys() == asked.names - by_key
    assert deployed.keys() >= OTHERS_READ.keys()
    assert deployed.keys().isdisjoint(REFUSED_BY_FLEX)


def test_the_app_starts_with_its_settings_and_warns_of_nothing(environment: str) -> None:
    settings = read_settings(app_settings(environment) | AT_RUN_TIME)
    assert settings.warnings == ()
    assert settings.profile == Profile.parse(json.dumps(profile(environment)))


def test_the_profile_is_the_one_that_the_queue_was_built_from(environment: str) -> None:
    """The same value as in the sample settings, so that both are written by one rule."""
    assert json.loads(app_settings(environment)[PROFILE]) == profile(environment)


def test_no_setting_holds_a_secret(environment: str) -> None:
    for name, value in app_settings(environment).items():
        assert not re.search(r"(?i)key=|password|sig=|secret", value), name


@pytest.mark.case("DEP-03")
def test_an_identity_is_named_wherever_one_is_used(environment: str) -> None:
    settings = app_settings(environment)
    managed = [name for name, value in settings.items() if value == "managedidentity"]
    assert len(managed) == 2
    for name in managed:
        assert settings[name.replace("__credential", "__clientId")].endswith(".clientId]")


def test_the_app_is_flex_consumption_under_one_identity(environment: str) -> None:
    plan, site = only(environment, "Microsoft.Web/serverfarms"), only(environment, SITES)
    assert plan["sku"] == {"name": "FC1", "tier": "FlexConsumption"}
    assert plan["properties"]["reserved"] is True
    assert site["identity"]["type"] == "UserAssigned"
    (identity,) = site["identity"]["userAssignedIdentities"]
    config = site["properties"]["functionAppConfig"]
    assert config["runtime"] == {"name": "python", "version": "3.13"}
    assert config["deployment"]["storage"]["authentication"] == {
        "type": "UserAssignedIdentity",
        "userAssignedIdentityResourceId": identity,
    }


def test_nobody_publishes_by_password_or_in_the_clear(environment: str) -> None:
    site = only(environment, SITES)["properties"]
    assert site["httpsOnly"] is True
    assert site["clientAffinityEnabled"] is False
    assert site["siteConfig"]["ftpsState"] == "Disabled"
    assert site["siteConfig"]["minTlsVersion"] == "1.2"
    assert site["siteConfig"]["http20Enabled"] is True
    policies = of_type(environment, "Microsoft.Web/sites/basicPublishingCredentialsPolicies")
    assert {policy["name"].rpartition("/")[2] for policy in policies} == {"ftp", "scm"}
    assert not any(policy["properties"]["allow"] for policy in policies)


def test_azd_finds_the_app(environment: str) -> None:
    assert only(environment, SITES)["tags"]["azd-service-name"] == "consumer"
