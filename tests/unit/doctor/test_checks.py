"""Facts in, findings out."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.profile import Profile
from idempotent_consumer.doctor import Facts, Finding, Severity, check
from idempotent_consumer.doctor.properties import FOREVER
from idempotent_consumer.servicebus.diagnosis import Diagnosis
from tests.unit.doctor.samples import ACCOUNT, BROKER, CONTAINER, FACTS, QUEUE

PAGE = Path(__file__).parents[3] / "docs" / "doctor.md"
NAMESPACE = (
    '--namespace-name contoso --resource-group "$(az servicebus namespace list --query '
    '"[?name==\'contoso\'].resourceGroup" --output tsv)"'
)
CREATE = (
    f"az servicebus queue create --name orders {NAMESPACE} --lock-duration PT1M "
    "--max-delivery-count 100 --default-message-time-to-live P7D "
    "--enable-duplicate-detection true --duplicate-detection-history-time-window PT10M "
    "--enable-dead-lettering-on-message-expiration true --enable-session false "
    "--enable-partitioning false"
)
ANEW = f"it is fixed at creation: let the queue run empty, delete it, and make it anew: {CREATE}"


def broker(**changes: Any) -> Facts:
    return replace(FACTS, broker=replace(BROKER, **changes))


def queue(**changes: Any) -> Facts:
    return broker(queue=replace(QUEUE, **changes))


def account(**changes: Any) -> Facts:
    return replace(FACTS, account=replace(ACCOUNT, **changes))


def container(**changes: Any) -> Facts:
    return account(container=replace(CONTAINER, **changes))


def fault(kind: FaultKind = FaultKind.MISCONFIGURED, cause: str = "403", advice: str = "") -> Fault:
    return Fault(kind=kind, cause=cause, advice=advice)


def to_tell(facts: Facts) -> dict[str, Finding]:
    """All that is not well, by check."""
    return {each.check: each for each in check(facts) if each.severity is not Severity.OK}


def the_one(facts: Facts) -> Finding:
    (finding,) = to_tell(facts).values()
    return finding


def test_nothing_bad_is_said_of_a_set_up_as_deployed() -> None:
    assert to_tell(FACTS) == {}


def test_the_endured_outage_and_the_retention_are_always_told() -> None:
    said = {each.check: each.what for each in check(FACTS)}
    assert said["outage"] == "100 deliveries of PT4M endure a store outage of PT6H40M; wanted: PT6H"
    assert said["retention"] == "markers live P45D; wanted: P29DT20H10M"


@pytest.mark.parametrize(
    ("change", "what", "option"),
    [
        ({"lock": timedelta(seconds=30)}, "is PT30S, must be PT1M", "--lock-duration PT1M"),
        ({"max_deliveries": 110}, "is 110, must be 100", "--max-delivery-count 100"),
        (
            {"lifetime": timedelta(days=1)},
            "is P1D, must be P7D",
            "--default-message-time-to-live P7D",
        ),
        (
            {"window": timedelta(days=1)},
            "is P1D, must be PT10M",
            "--duplicate-detection-history-time-window PT10M",
        ),
        (
            {"dead_letters_expired": False},
            "is false, must be true",
            "--enable-dead-lettering-on-message-expiration true",
        ),
    ],
)
def test_a_property_that_differs_is_told_with_both_values_and_its_command(
    change: dict[str, Any], what: str, option: str
) -> None:
    finding = the_one(queue(**change))
    assert (finding.severity, finding.what) == (Severity.PROBLEM, what)
    assert finding.mend == f"az servicebus queue update --name orders {NAMESPACE} {option}"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"window": None}, "duplicate detection"),
        ({"sessions": True}, "sessions"),
        ({"partitioned": True}, "partitioning"),
    ],
)
def test_what_is_fixed_at_creation_is_mended_by_making_the_queue_anew(
    change: dict[str, Any], name: str
) -> None:
    finding = the_one(queue(**change))
    assert (finding.check, finding.mend) == (name, ANEW)


def test_a_command_for_the_queue_is_one_for_a_shell() -> None:
    assert shlex.split(CREATE)[:8:2] == ["az", "queue", "--name", "--namespace-name"]
    assert shlex.split(CREATE)[9].startswith("$(az servicebus namespace list --query ")


def test_an_endless_lifetime_is_set_by_the_longest_duration() -> None:
    endless = replace(FACTS.profile, lifetime=None, retention=None)
    told = to_tell(replace(FACTS, profile=endless))["message time to live"]
    assert told.what == "is P7D, must be without end"
    assert told.mend.endswith("--default-message-time-to-live P10675199DT2H48M5.47758S")
    assert timedelta(days=10675199) < FOREVER


def test_the_queue_as_it_is_decides_what_is_endured_and_how_long_markers_must_live() -> None:
    told = to_tell(queue(max_deliveries=10, lifetime=timedelta(days=30)))
    assert told.keys() == {"outage", "retention", "max delivery count", "message time to live"}
    assert "endure a store outage of PT40M; wanted: PT6H" in told["outage"].what


def test_a_queue_is_not_compared_with_a_profile_that_was_only_assumed() -> None:
    told = the_one(replace(FACTS, profile=Profile(), warnings=("the profile is missing",)))
    assert (told.check, told.severity, told.what) == (
        "profile",
        Severity.NOTE,
        "the profile is missing",
    )
    assert told.mend == "set IDEMPOTENT_CONSUMER_PROFILE to a profile of infra/contract.json"


def test_what_every_consumer_needs_is_compared_all_the_same() -> None:
    facts = replace(queue(sessions=True), profile=Profile(), warnings=("missing",))
    assert to_tell(facts).keys() == {"profile", "sessions"}


def test_a_missing_queue_is_told_once() -> None:
    told = the_one(broker(receiving=Diagnosis(cause="not found"), queue=Diagnosis(cause="404")))
    assert (told.check, told.mend, told.unreachable) == ("receiving", CREATE, False)


def test_a_role_that_receiving_lacks_is_told_as_it_was_met() -> None:
    told = the_one(broker(receiving=Diagnosis(cause="unauthorized", advice="grant the role")))
    assert told.what == (
        "queue 'orders' of contoso.servicebus.windows.net cannot be received from: unauthorized"
    )
    assert told.mend == "grant the role"


def test_a_role_that_management_lacks_is_named_with_its_command() -> None:
    told = the_one(broker(queue=Diagnosis(cause="unauthorized")))
    assert told.check == "queue properties"
    assert 'az role assignment create --role "Azure Service Bus Data Owner"' in told.mend
    assert told.mend.endswith('/queues/orders"')


@pytest.mark.parametrize(
    ("emulated", "cause", "mend", "unreachable"),
    [
        (False, "timeout", "see whether https (port 443) reaches the namespace from here", True),
        (
            False,
            "no credential",
            "sign in with `az login`, or run this where a managed identity is",
            False,
        ),
        (
            True,
            "unreachable",
            "say in IDEMPOTENT_CONSUMER_MANAGEMENT where the emulator has its management",
            True,
        ),
    ],
)
def test_management_that_does_not_show_the_queue_is_told_with_what_mends_it(
    emulated: bool, cause: str, mend: str, unreachable: bool
) -> None:
    told = the_one(broker(queue=Diagnosis(cause=cause), emulated=emulated))
    assert (told.mend, told.unreachable) == (mend, unreachable)


@pytest.mark.parametrize(
    ("skew", "severity", "what"),
    [
        (timedelta(seconds=4), Severity.OK, "4 s ahead of Cosmos DB's; up to 5 s do no harm"),
        (
            timedelta(seconds=-42),
            Severity.PROBLEM,
            "42 s behind Cosmos DB's: locks are renewed too early or too late",
        ),
        (
            timedelta(minutes=6),
            Severity.PROBLEM,
            "360 s ahead of Cosmos DB's: tokens are refused",
        ),
        (None, Severity.NOTE, "the account's answers tell no time to compare with"),
    ],
)
def test_a_clock_that_is_off_is_told_with_the_harm(
    skew: timedelta | None, severity: Severity, what: str
) -> None:
    (clock,) = (each for each in check(account(skew=skew)) if each.check == "clock")
    assert (clock.severity, clock.what) == (severity, what)


@pytest.mark.parametrize(
    ("facts", "name", "severity", "mend"),
    [
        (
            account(several_write_regions=True),
            "write regions",
            Severity.PROBLEM,
            "az cosmosdb update --name contoso",
        ),
        (
            container(partition_paths=("/tenant", "/orderId")),
            "partition key",
            Severity.PROBLEM,
            "az cosmosdb sql container show",
        ),
        (
            container(hash_version=1),
            "hash version",
            Severity.PROBLEM,
            "have to move to another one that has version 2",
        ),
        (
            container(default_ttl=None),
            "time to live",
            Severity.PROBLEM,
            "--database-name shop --name orders --ttl -1",
        ),
        (
            container(default_ttl=3600),
            "time to live",
            Severity.NOTE,
            "--database-name shop --name orders --ttl -1",
        ),
        (container(unique_keys=True), "unique keys", Severity.NOTE, ""),
    ],
)
def test_a_container_that_is_not_as_it_must_be_is_told(
    facts: Facts, name: str, severity: Severity, mend: str
) -> None:
    told = the_one(facts)
    assert (told.check, told.severity) == (name, severity)
    assert mend in told.mend


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (replace(FACTS, account=fault(advice="grant it")), "account"),
        (account(container=fault(advice="grant it")), "container"),
        (container(reading=fault(advice="grant it")), "reading"),
    ],
)
def test_a_refusal_by_the_account_is_told_as_it_was_met(facts: Facts, name: str) -> None:
    told = the_one(facts)
    assert (told.check, told.mend, told.unreachable) == (name, "grant it", False)


def test_an_account_out_of_reach_is_told_with_its_address() -> None:
    told = the_one(replace(FACTS, account=fault(FaultKind.UNAVAILABLE, "connection")))
    assert told.what == "https://contoso.documents.azure.com:443/ does not answer: connection"
    assert told.unreachable
    assert "a firewall or a proxy" in told.mend


def test_each_check_is_described_and_no_other() -> None:
    described = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    unseen = check(broker(queue=Diagnosis(cause="timeout")))
    assert set(described) == {each.check for each in (*check(FACTS), *unseen)}
