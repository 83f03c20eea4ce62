"""`infra/contract.json` is sound, and what is generated from it is fresh and usable."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from infra import generate
from jsonschema import Draft202012Validator

from idempotent_consumer.core.profile import InvalidProfile, Profile
from idempotent_consumer.settings import load_local_settings, read_settings
from local_azure.cosmos import load_containers
from local_azure.servicebus import Config

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "local.settings.sample.json"
CONTRACT = generate.load_contract()
SCHEMA = json.loads((ROOT / "infra" / "contract.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

PLATFORM = {"FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage", "ORDERS_QUEUE"}
"""What the Functions host reads and the library does not."""


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each object in a JSON value."""
    if isinstance(value, dict):
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in inner:
        if isinstance(part, dict | list):
            yield from objects(part, (*path, name))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def profile(name: str) -> Profile:
    return Profile.parse(json.dumps(generate.profile(CONTRACT, name)))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_contract_obeys_its_schema() -> None:
    VALIDATOR.validate(CONTRACT)


@pytest.mark.parametrize("path", list(objects(CONTRACT)), ids=str)
def test_the_schema_takes_nothing_unknown_and_misses_what_is_gone(
    path: tuple[str | int, ...],
) -> None:
    unknown = deepcopy(CONTRACT)
    at(unknown, path)["surprise"] = 1
    assert not VALIDATOR.is_valid(unknown)
    for name in at(CONTRACT, path).keys() - {"$schema"}:
        gone = deepcopy(CONTRACT)
        del at(gone, path)[name]
        assert not VALIDATOR.is_valid(gone), name


@pytest.mark.parametrize("text", ["PT20S", "PT1M", "PT23H59M59S", "P1D", "P1DT12H", "PT0S"])
def test_a_duration_is_written_as_azure_writes_it_back(text: str) -> None:
    assert VALIDATOR.evolve(schema=SCHEMA["$defs"]["duration"]).is_valid(text)


@pytest.mark.parametrize("text", ["P", "PT", "P1DT", "PT60S", "PT24H", "P1M", "PT1.5S", "1M", 60])
def test_other_durations_are_refused(text: object) -> None:
    assert not VALIDATOR.evolve(schema=SCHEMA["$defs"]["duration"]).is_valid(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("requiresSession", True),
        ("requiresDuplicateDetection", False),
        ("deadLetteringOnMessageExpiration", False),
        ("maxDeliveryCount", 100.5),
        ("maxDeliveryCount", 2001),
    ],
)
def test_a_queue_that_the_consumer_cannot_use_is_refused(name: str, value: object) -> None:
    queue = CONTRACT["profiles"]["prod"]["queue"] | {name: value}
    assert not VALIDATOR.evolve(schema=SCHEMA | {"$ref": "#/$defs/queue"}).is_valid(queue)


@pytest.mark.parametrize("name", CONTRACT["profiles"])
def test_each_profile_keeps_every_rule(name: str) -> None:
    assert profile(name).name == name


@pytest.mark.parametrize(
    ("section", "number", "value", "rule"),
    [
        ("retention", "markerTimeToLive", "P1D", "markers live 1 day, 0:00:00, but must outlive"),
        ("retention", "margin", "P30D", "but must outlive"),
        ("resubmission", "maxAge", "P40D", "but must outlive"),
        ("resubmission", "maxTimes", 3, "but must outlive"),
        ("queue", "defaultMessageTimeToLive", "P21D", "but must outlive"),
        ("queue", "maxDeliveryCount", 10, "do not outlast an outage of 6:00:00"),
        ("outage", "endured", "P1D", "do not outlast an outage of 1 day"),
        ("host", "processingBudget", "PT4M51S", "does not end before the function timeout"),
        ("host", "maxAutoLockRenewalDuration", "PT4M", "locks are renewed for 0:04:00"),
        ("queue", "lockDuration", "PT6M", "is longer than Service Bus grants"),
        ("queue", "lockDuration", "PT0S", "a lock lasts for a while"),
        ("producer", "maxRetryHorizon", "PT11M", "producers re-send for 0:11:00"),
        ("queue", "duplicateDetectionHistoryTimeWindow", "PT2H", "looks back 2:00:00"),
    ],
)
def test_a_profile_that_breaks_a_rule_is_told_which(
    section: str, number: str, value: object, rule: str
) -> None:
    broken = generate.profile(deepcopy(CONTRACT), "prod")
    broken[section][number] = value
    with pytest.raises(InvalidProfile) as raised:
        Profile.parse(json.dumps(broken))
    (problem,) = raised.value.problems
    assert problem.startswith("profile prod: ")
    assert rule in problem


def test_markers_outlive_every_copy_by_the_sum_that_is_written_down() -> None:
    day, hour = timedelta(days=1), timedelta(hours=1)
    one_life = 7 * day + 10 * hour
    assert profile("prod").retention_needed() == (
        timedelta(minutes=10) + 2 * one_life + 14 * day + 1 * day
    )


def test_generated_files_are_fresh() -> None:
    assert [path.name for path in generate.stale()] == []


def test_a_stale_file_is_named_and_then_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "infra" / "local").mkdir(parents=True)
    (tmp_path / "infra" / "contract.json").write_text(json.dumps(CONTRACT))
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert "infra/local/cosmos.json" in str(generate.main(["--check"]))
    assert generate.main([]) is None
    assert generate.main(["--check"]) is None


def test_the_local_queue_stays_inside_the_limits_of_microsofts_emulator() -> None:
    """The embedded emulator's reader refuses what Microsoft's would."""
    local = profile("local")
    queues = Config.load(ROOT / "infra" / "local" / "Config.json").queues
    queue = queues[CONTRACT["profiles"]["local"]["queue"]["name"]]
    assert queue.lock_duration == local.lock
    assert queue.max_delivery_count == local.max_deliveries
    assert queue.default_message_time_to_live == local.lifetime
    assert queue.duplicate_detection_history_time_window == local.window
    assert queue.requires_duplicate_detection
    assert queue.dead_lettering_on_message_expiration


def test_the_host_does_what_the_contract_says() -> None:
    host = json.loads((ROOT / "host.json").read_text("utf-8"))
    service_bus = host["extensions"]["serviceBus"]
    assert host["functionTimeout"] == "00:05:00"
    assert service_bus["maxAutoLockRenewalDuration"] == "00:06:00"
    assert service_bus["maxConcurrentCalls"] == CONTRACT["host"]["maxConcurrentCalls"]
    assert service_bus["autoCompleteMessages"] is False
    assert service_bus["prefetchCount"] == 0


@pytest.mark.parametrize(
    ("iso", "dotnet"), [("PT5M", "00:05:00"), ("PT1H30M", "01:30:00"), ("PT90S", "00:01:30")]
)
def test_the_host_reads_durations_in_the_way_of_dotnet(iso: str, dotnet: str) -> None:
    assert generate.time_span(iso) == dotnet


def test_microsofts_emulator_knows_one_namespace() -> None:
    config = json.loads((ROOT / "infra" / "local" / "Config.json").read_text("utf-8"))
    (namespace,) = config["UserConfig"]["Namespaces"]
    assert namespace["Name"] == "sbemulatorns"


def test_the_local_containers_are_those_of_the_contract() -> None:
    (orders,) = load_containers(ROOT / "infra" / "local" / "cosmos.json")
    assert (orders.database, orders.id) == ("shop", "orders")
    assert orders.partition_key_paths == ("/orderId",)
    assert orders.hash_version == 2
    assert orders.default_ttl == -1


def test_the_sample_settings_hold_the_local_profile_and_warn_of_nothing() -> None:
    settings = read_settings(load_local_settings(SAMPLE, {}))
    assert settings.profile == profile("local")
    assert settings.warnings == ()


class Read(dict[str, str]):
    """Settings that know which of them were asked for."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None, /) -> Any:
        self.names.add(name)
        return super().get(name, default)


def test_the_sample_holds_no_setting_that_nobody_reads() -> None:
    values = Read(load_local_settings(SAMPLE, {}))
    read_settings(values)
    assert values.keys() - values.names == PLATFORM
    by_identity = {name for name in values.names - values.keys() if "__" in name}
    assert values.names - values.keys() == by_identity


@pytest.mark.parametrize("number", [-1, 100.9, True, "10", None, 10**12], ids=repr)
@pytest.mark.parametrize("place", ["queue/maxDeliveryCount", "resubmission/maxTimes"])
def test_what_is_no_number_of_times_stops_the_start(place: str, number: object) -> None:
    group, name = place.split("/")
    broken = generate.profile(deepcopy(CONTRACT), "prod")
    broken[group][name] = number
    with pytest.raises(InvalidProfile, match="cannot be read"):
        Profile.parse(json.dumps(broken))
