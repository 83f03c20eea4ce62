"""What deploys is wired to what is deployed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.infra.deployed import BUILD, SITES, only

INFRA = BUILD.parent
AZURE_YAML = (INFRA.parent / "azure.yaml").read_text("utf-8")
WORKFLOW = (INFRA.parent / ".github" / "workflows" / "deploy.yml").read_text("utf-8")


def test_azd_deploys_a_module_that_is_there_to_an_app_that_it_finds() -> None:
    module = re.search(r"^  module: (\w+)$", AZURE_YAML, re.MULTILINE)
    assert module
    assert (INFRA / f"{module[1]}.bicep").is_file()
    assert (INFRA / f"{module[1]}.bicepparam").is_file()
    assert f"\n  {only('dev', SITES)['tags']['azd-service-name']}:\n" in AZURE_YAML


def test_the_workflow_sets_what_the_parameters_read() -> None:
    parameters = (INFRA / "azd.bicepparam").read_text("utf-8")
    required = re.findall(r"readEnvironmentVariable\('(\w+)'\)", parameters)
    assert required
    for name in [*required, "ALERT_EMAILS"]:
        assert name in parameters
        assert f"\n      {name}: " in WORKFLOW


def test_the_workflow_knows_no_secret() -> None:
    assert "id-token: write" in WORKFLOW
    assert "secrets." not in WORKFLOW


def test_an_action_is_pinned_or_says_why_not() -> None:
    for action in re.findall(r"- uses: (.*)", WORKFLOW):
        assert re.search(r"@[0-9a-f]{40} # v\d|@v\d+ # by tag: ", action), action


def test_the_lock_of_the_analyser_says_nothing_of_where_packages_come_from() -> None:
    lock = (Path(__file__).parent / "kusto" / "package-lock.json").read_text("utf-8")
    assert '"integrity"' in lock
    assert "http" not in lock
