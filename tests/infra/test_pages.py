"""What the pages say of the deployment is so."""

from __future__ import annotations

import re

import pytest

from idempotent_consumer.settings import read_settings
from tests.infra.deployed import BUILD, ENVIRONMENTS, TEMPLATE, app_settings, profile, resources
from tests.infra.grants import ROLE_NAMES, grants

DOCS = BUILD.parents[1] / "docs"
PROVISION = (DOCS / "provision.md").read_text("utf-8")
DEPLOY = (DOCS / "deploy.md").read_text("utf-8")


def section(page: str, heading: str) -> str:
    """What stands below a heading."""
    found = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert found, heading
    return found


def rows(text: str) -> list[list[str]]:
    """The rows of a table, without its heading."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_the_roles_of_the_page_are_those_that_are_granted() -> None:
    granted = [ROLE_NAMES[role] for _, role, _ in grants(resources("prod"))]
    assert sorted(role for role, _ in rows(section(DEPLOY, "1. Before"))) == sorted(granted)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_settings_of_the_page_are_those_of_the_app(environment: str) -> None:
    told = [re.findall(r"`(\w+)`", cell) for _, cell in rows(section(DEPLOY, "2. Settings"))]
    assert sorted(name for names in told[1:] for name in names) == sorted(app_settings(environment))


def test_what_an_operator_exports_is_all_that_the_settings_need() -> None:
    check = section(PROVISION, "Check it")
    exported = dict(re.findall(r'export (\w+)="\$\(output (\w+)\)"', check))
    assert TEMPLATE["outputs"].keys() >= {
        *exported.values(),
        *re.findall(r"\(output (\w+)\)", check),
    }
    values = {
        "serviceBusNamespace": "contoso.servicebus.windows.net",
        "cosmosEndpoint": "https://contoso.documents.azure.com:443/",
        "profile": app_settings("dev")["IDEMPOTENT_CONSUMER_PROFILE"],
    }
    settings = read_settings({name: values[output] for name, output in exported.items()})
    assert settings.profile.name == profile("dev")["profile"]
    azd = (BUILD.parent / "azd.bicep").read_text("utf-8")
    for name in exported:
        assert f"\noutput {name} string = " in azd


def test_only_what_is_deleted_loses_its_locks() -> None:
    commands = section(PROVISION, "Back to nothing").partition("```sh")[2]
    assert re.findall(r"--(?:resource-group|name) (\S+)", commands) == ['"$group"'] * 2


@pytest.mark.parametrize("page", [PROVISION, DEPLOY], ids=["provision", "deploy"])
def test_a_page_says_what_to_install_before_it_calls_the_command(page: str) -> None:
    before = page.partition("\nidempotent-consumer ")[0]
    assert "`pip install 'idempotent-consumer[cli]'`" in before
