"""Who may do what: the whole table, and nothing beside it."""

from __future__ import annotations

import pytest

from tests.infra.deployed import (
    COSMOS_ROLES,
    ENVIRONMENTS,
    ROLES,
    SNAPSHOTS,
    TEMPLATE,
    resources,
    templates,
)
from tests.infra.grants import CONSUMER, grants


@pytest.mark.case("DEP-02")
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_consumer_may_do_what_it_does_and_no_more(environment: str) -> None:
    assert grants(resources(environment)) == CONSUMER


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_grant_says_what_its_principal_is(environment: str) -> None:
    """Else Azure looks the principal up, and may not know it yet."""
    for resource in SNAPSHOTS[environment]["predictedResources"]:
        if resource["type"] == ROLES:
            assert resource["properties"]["principalType"] == "ServicePrincipal"


def test_the_same_grant_has_the_same_name_in_each_deployment() -> None:
    assigned = [
        resource
        for template in templates(TEMPLATE)
        for resource in template["resources"].values()
        if resource["type"] in {ROLES, COSMOS_ROLES}
    ]
    assert len(assigned) == 6
    for resource in assigned:
        assert "guid(" in resource["name"]


def test_the_app_starts_after_its_grants() -> None:
    assert "roles" in TEMPLATE["resources"]["functionApp"]["dependsOn"]
