"""What only the Bicep compiler can tell: fresh build, clean lint, guards that fail."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from infra import compile_bicep
from infra.compile_bicep import BicepError

from idempotent_consumer.core.profile import InvalidProfile, Profile
from tests.infra.deployed import (
    ACCOUNTS,
    BUILD,
    CONTAINERS,
    CONTRACT,
    ENVIRONMENTS,
    METRIC_ALERTS,
    NAMESPACES,
    SITES,
    TEMPLATE,
    profile,
    resources,
)
from tests.infra.grants import CONSUMER, OPERATORS, grants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPILER = compile_bicep.find_compiler() or ""
INFRA = BUILD.parent
BUILT_WITH = TEMPLATE["metadata"]["_generator"]["version"]

pytestmark = pytest.mark.timeout(180)
"""The compiler takes seconds to start, and more where other tests run beside it."""

needs_compiler = pytest.mark.skipif(
    not COMPILER, reason="no Bicep compiler: set BICEP to one, or put bicep on the path"
)


def test_the_build_is_of_these_sources() -> None:
    assert (BUILD / "SOURCES.sha256").read_text("utf-8") == compile_bicep.digests()


def test_a_digest_is_what_sha256sum_prints() -> None:
    digest = sha256((INFRA / "main.bicep").read_bytes()).hexdigest()
    assert f"{digest}  main.bicep\n" in compile_bicep.digests()


def test_without_a_compiler_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BICEP", raising=False)
    monkeypatch.setenv("PATH", "")
    assert "set BICEP" in str(compile_bicep.main(["--check"]))


def test_a_compiler_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BICEP", "no-such-bicep")
    assert compile_bicep.main(["--check"]) == (
        "no-such-bicep cannot be run: No such file or directory"
    )


@cache
def compiler_version() -> str:
    return compile_bicep.run(COMPILER, "--version")


@needs_compiler
@pytest.mark.parametrize("name", [compile_bicep.TEMPLATE, *compile_bicep.SNAPSHOTS])
def test_the_build_is_what_the_compiler_makes_of_the_sources(name: str) -> None:
    version = compiler_version()
    if not re.search(rf"\b{re.escape(BUILT_WITH.rpartition('.')[0])}\b", version):
        pytest.skip(f"built with {BUILT_WITH}, and another compiler may write otherwise: {version}")
    assert (BUILD / name).read_text("utf-8") == compile_bicep.built(COMPILER, name)


@needs_compiler
def test_the_linter_finds_nothing() -> None:
    """Warnings included, of which the exit code says nothing; all modules, for azd uses them."""
    source = ("--diagnostics-format", "sarif", INFRA / "azd.bicep")
    told = json.loads(compile_bicep.run(COMPILER, "lint", "--no-restore", *source))
    assert [result["message"]["text"] for result in told["runs"][0]["results"]] == []


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Sources that a test may break."""
    return compile_bicep.copy_sources(tmp_path)


@needs_compiler
def test_azd_deploys_the_same_into_a_group_of_its_own_for_whoever_runs_it(copy: Path) -> None:
    person = "33333333-3333-3333-3333-333333333333"
    variables = {
        "AZURE_ENV_NAME": "trial",
        "AZURE_LOCATION": "westeurope",
        "ALERT_EMAILS": " a@example.com, b@example.com,,",
        "OPERATORS_ID": person,
    }
    found = compile_bicep.snapshot(
        COMPILER, copy / "azd.bicepparam", resource_group=None, variables=variables
    )
    group, *inner = found["predictedResources"]
    assert (group["type"], group["name"]) == ("Microsoft.Resources/resourceGroups", "rg-trial")
    assert grants(inner, operators=person) == CONSUMER | OPERATORS
    kinds = {found["type"] for found in resources("dev")}
    assert {found["type"] for found in inner} == kinds
    tagged = [found["tags"]["azd-env-name"] for found in [group, *inner] if "tags" in found]
    assert set(tagged) == {"trial"}
    (told,) = [found for found in inner if found["type"] == "Microsoft.Insights/actionGroups"]
    receivers = [item["emailAddress"] for item in told["properties"]["emailReceivers"]]
    assert receivers == ["a@example.com", "b@example.com"]


@needs_compiler
@pytest.mark.parametrize("emails", ["", " , "])
def test_prod_is_not_deployed_where_an_alert_would_reach_no_one(copy: Path, emails: str) -> None:
    with pytest.raises(BicepError, match="prod needs alertEmails"):
        compile_bicep.snapshot(
            COMPILER, copy / "main.prod.bicepparam", variables={"ALERT_EMAILS": emails}
        )


def name_deployment(parameters: Path, base_name: str) -> None:
    text = parameters.read_text("utf-8")
    parameters.write_text(f"{text}param baseName = '{base_name}'\n", "utf-8")


@needs_compiler
@pytest.mark.parametrize("name", ["Or_ders", "Orders", "or-ders"])
def test_a_name_that_no_resource_may_have_is_named(copy: Path, name: str) -> None:
    parameters = copy / "main.dev.bicepparam"
    name_deployment(parameters, name)
    with pytest.raises(BicepError, match=f"baseName {name} has other characters"):
        compile_bicep.snapshot(COMPILER, parameters)


@needs_compiler
@pytest.mark.parametrize(
    ("environment", "shared"), [("dev", set()), ("prod", {"Microsoft.Network/privateDnsZones"})]
)
def test_two_deployments_in_one_resource_group_share_no_more_than_dns_zones(
    copy: Path, environment: str, shared: set[str]
) -> None:
    parameters = copy / f"main.{environment}.bicepparam"
    name_deployment(parameters, "invoices")
    second = compile_bicep.snapshot(COMPILER, parameters)["predictedResources"]
    first = resources(environment)
    assert len(second) == len(first)
    ids = {found["id"] for found in first}
    assert {found["type"] for found in second if found["id"] in ids} == shared


@needs_compiler
def test_a_queue_of_another_name_moves_reader_grant_and_alerts_and_keeps_the_account(
    copy: Path,
) -> None:
    """Which is why the old one is emptied first: Moving a live queue in docs/provision.md."""
    moved = deepcopy(CONTRACT)
    moved["profiles"]["dev"]["queue"]["name"] = "orders-2"
    (copy / "contract.json").write_text(json.dumps(moved))
    found = compile_bicep.snapshot(COMPILER, copy / "main.dev.bicepparam")["predictedResources"]
    kept = {NAMESPACES, ACCOUNTS, CONTAINERS, SITES}
    assert {each["id"] for each in found if each["type"] in kept} == {
        each["id"] for each in resources("dev") if each["type"] in kept
    }
    assert {scope for _, _, scope in grants(found) if "/queues/" in scope} == {
        "Microsoft.ServiceBus/namespaces/{}/queues/orders-2"
    }
    alerts = json.dumps([each for each in found if each["type"] == METRIC_ALERTS])
    assert '"orders-2"' in alerts
    assert '"orders"' not in alerts
    (site,) = [each for each in found if each["type"] == SITES]
    settings = site["properties"]["siteConfig"]["appSettings"]
    assert {"name": "ORDERS_QUEUE", "value": "orders-2"} in settings


@needs_compiler
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("profiles/dev/queue/requiresSession", True),
        ("profiles/dev/queue/requiresDuplicateDetection", False),
        ("profiles/dev/queue/deadLetteringOnMessageExpiration", False),
        ("profiles/dev/queue/maxDeliveryCount", 100.5),
        ("profiles/dev/queue/maxDeliveryCount", 2001),
        ("profiles/dev/resubmission/maxTimes", -1),
        ("host/maxConcurrentCalls", 0),
        ("cosmos/databases/0/containers/0/defaultTtl", 3600),
    ],
)
def test_a_contract_beyond_its_types_is_not_deployed(copy: Path, place: str, value: object) -> None:
    broken: Any = deepcopy(CONTRACT)
    *path, name = place.split("/")
    part = broken
    for step in path:
        part = part[int(step) if isinstance(part, list) else step]
    part[name] = value
    (copy / "contract.json").write_text(json.dumps(broken))
    with pytest.raises(BicepError, match=rf"'profile\.(\S+\.)?{name}' parameter"):
        compile_bicep.snapshot(COMPILER, copy / "main.dev.bicepparam")


@needs_compiler
def test_a_contract_that_breaks_the_rules_is_not_deployed(copy: Path) -> None:
    """And each broken rule is named; that one is enough, the test below shows."""
    broken = deepcopy(CONTRACT)
    broken["host"] |= {
        "processingBudget": "PT10S",
        "functionTimeout": "PT10S",
        "maxAutoLockRenewalDuration": "PT5S",
    }
    broken["profiles"]["prod"]["queue"] |= {
        "lockDuration": "PT6M",
        "maxDeliveryCount": 1,
        "duplicateDetectionHistoryTimeWindow": "P7D",
    }
    broken["profiles"]["prod"]["retention"]["markerTimeToLive"] = "P1D"
    (copy / "contract.json").write_text(json.dumps(broken))
    with pytest.raises(BicepError) as raised:
        compile_bicep.snapshot(COMPILER, copy / "main.prod.bicepparam")
    said = " ".join(str(raised.value).split())
    assert "profile prod: markers live 86400 s, but must outlive 2506920 s; " in said
    assert broken_rules(said) == {*RULES} - {NO_LOCK, UNREADABLE}


NO_LOCK = "a lock lasts for a while"
UNREADABLE = "is no duration such as PT1M or P14D"
RULES = (
    "but must outlive",
    "do not outlast an outage",
    "is delivered at least twice",
    "leaves no time for one store call",
    "does not end before the function timeout",
    "locks are renewed",
    "is longer than Service Bus grants",
    NO_LOCK,
    UNREADABLE,
    "duplicate detection looks back",
)
"""What the text of each rule says, in Python and in Bicep alike."""

NUMBERS = (
    ("queue", "lockDuration"),
    ("queue", "defaultMessageTimeToLive"),
    ("queue", "duplicateDetectionHistoryTimeWindow"),
    ("host", "processingBudget"),
    ("host", "functionTimeout"),
    ("host", "maxAutoLockRenewalDuration"),
    ("producer", "maxRetryHorizon"),
    ("resubmission", "maxAge"),
    ("retention", "markerTimeToLive"),
    ("retention", "margin"),
    ("outage", "endured"),
)
LIMITS = (
    *("PT0S", "PT19S", "PT20S", "PT4M50S", "PT4M51S", "PT5M", "PT5M1S"),
    *("PT1H", "PT1H1S", "PT6H40M", "P21D", "P45D"),
    *("-PT1M", "P1M", "P1Y", "P1W", "PT1.5S"),
)


def varied() -> Iterator[dict[str, Any]]:
    """Profiles with one number changed, at the limits of the rules and beyond them, or to none."""
    for environment in ENVIRONMENTS:
        yield profile(environment)
        for (section, number), value in product(NUMBERS, LIMITS):
            yield changed(environment, section, number, value)
        for deliveries in (1, 2, 89, 90, 91):
            yield changed(environment, "queue", "maxDeliveryCount", deliveries)
        for times in (0, 2, 3):
            yield changed(environment, "resubmission", "maxTimes", times)
        for seconds in (-1, 0, 1):
            life = f"PT{retention_needed(environment) + seconds}S"
            yield changed(environment, "retention", "markerTimeToLive", life)


def changed(environment: str, section: str, number: str, value: object) -> dict[str, Any]:
    found = deepcopy(profile(environment))
    found[section][number] = value
    return found


def retention_needed(environment: str) -> int:
    """Seconds that markers have to live."""
    needed = Profile.parse(json.dumps(profile(environment))).retention_needed()
    assert needed is not None
    return int(needed.total_seconds())


def broken_rules(text: str) -> set[str]:
    return {rule for rule in RULES if rule in text}


def broken_in_python(found: dict[str, Any]) -> set[str]:
    try:
        Profile.parse(json.dumps(found))
    except InvalidProfile as error:
        return broken_rules(str(error))
    return set()


@needs_compiler
def test_the_deployment_fails_for_what_the_consumer_would_refuse(copy: Path) -> None:
    """The rules stand in Python and in Bicep; here both judge the same profiles."""
    profiles = list(varied())
    (copy / "profiles.json").write_text(json.dumps(profiles))
    (copy / "judged.bicep").write_text(
        "import { problems } from 'modules/contract.bicep'\n"
        "var profiles = loadJsonContent('profiles.json')\n"
        "@description('The rules that each breaks.')\n"
        "output judged string[][] = map(profiles, found => problems(found))\n"
    )
    (copy / "judged.bicepparam").write_text("using 'judged.bicep'\n")
    judged = compile_bicep.snapshot(COMPILER, copy / "judged.bicepparam")["outputs"]["judged"]
    in_bicep = [broken_rules("; ".join(problems)) for problems in judged]
    assert in_bicep == [broken_in_python(found) for found in profiles]
    assert set().union(*in_bicep) == set(RULES)
    assert set() in in_bicep
