from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idempotent_consumer.core.profile import Profile
from idempotent_consumer.settings import (
    COSMOS_EMULATOR,
    COSMOS_KEY,
    LOG_KEYS,
    PROFILE,
    SERVICE_BUS_EMULATOR,
    SERVICE_BUS_KEY,
    SettingsError,
    load_local_settings,
    read_service_bus,
    read_settings,
)

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = "ServiceBus__fullyQualifiedNamespace"
ENDPOINT = "Cosmos__accountEndpoint"
EMULATORS = {"ServiceBus": SERVICE_BUS_EMULATOR, "Cosmos": COSMOS_EMULATOR}
SECRET = "aHVudGVyMg=="


def in_azure(**more: str) -> dict[str, str]:
    return {
        NAMESPACE: "contoso.servicebus.windows.net",
        ENDPOINT: "https://contoso.documents.azure.com:443/",
        **more,
    }


def problems(environment: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as raised:
        read_settings(environment)
    return raised.value.problems


def test_the_emulators_are_reached_by_connection_string() -> None:
    settings = read_settings(EMULATORS)
    assert settings.service_bus.connection_string == SERVICE_BUS_EMULATOR
    assert settings.service_bus.namespace is None
    assert settings.cosmos.endpoint == "http://localhost:8081/"
    assert settings.cosmos.key == COSMOS_KEY


def test_azure_is_reached_by_identity() -> None:
    settings = read_settings(in_azure())
    assert settings.service_bus.namespace == "contoso.servicebus.windows.net"
    assert settings.service_bus.connection_string is None
    assert settings.cosmos.endpoint == "https://contoso.documents.azure.com:443/"
    assert settings.cosmos.key is None


def test_each_connection_may_have_an_identity_of_its_own() -> None:
    settings = read_settings(in_azure(ServiceBus__clientId="one", Cosmos__clientId="other"))
    assert settings.service_bus.client_id == "one"
    assert settings.cosmos.client_id == "other"


def test_connections_may_have_other_names() -> None:
    environment = {"Broker": SERVICE_BUS_EMULATOR, "Store": COSMOS_EMULATOR}
    settings = read_settings(environment, service_bus="Broker", cosmos="Store")
    assert settings.service_bus.connection_string == SERVICE_BUS_EMULATOR
    assert settings.cosmos.key == COSMOS_KEY


def test_a_sender_needs_no_store() -> None:
    environment = {"ServiceBus": SERVICE_BUS_EMULATOR}
    assert read_service_bus(environment).connection_string == SERVICE_BUS_EMULATOR
    with pytest.raises(SettingsError):
        read_service_bus({})


@pytest.mark.parametrize(
    "string",
    [
        SERVICE_BUS_EMULATOR.replace("localhost", "localhost:5673"),
        SERVICE_BUS_EMULATOR.replace("localhost", "[::1]:5673"),
        SERVICE_BUS_EMULATOR.replace("localhost", "emulator"),
        SERVICE_BUS_EMULATOR.replace("localhost", "127.0.0.1").replace(SERVICE_BUS_KEY, SECRET),
    ],
)
def test_a_service_bus_emulator_may_be_anywhere_unless_its_key_is_secret(string: str) -> None:
    assert read_settings(EMULATORS | {"ServiceBus": string}).service_bus.connection_string == string


@pytest.mark.parametrize(
    ("string", "endpoint"),
    [
        (f"AccountEndpoint=http://127.0.0.1:9/;AccountKey={SECRET}", "http://127.0.0.1:9/"),
        (
            f"AccountEndpoint=https://emulator:8081;AccountKey={COSMOS_KEY};",
            "https://emulator:8081",
        ),
    ],
)
def test_a_cosmos_emulator_is_on_this_machine_or_has_the_public_key(
    string: str, endpoint: str
) -> None:
    assert read_settings(EMULATORS | {"Cosmos": string}).cosmos.endpoint == endpoint


REMOTE_KEY = (
    f"Endpoint=sb://contoso.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey={SECRET}"
)
BROKEN = [
    ({}, NAMESPACE, "is missing"),
    ({}, ENDPOINT, "is missing"),
    ({**EMULATORS, "ServiceBus": "  "}, NAMESPACE, "is missing"),
    ({**EMULATORS, **in_azure()}, NAMESPACE, "and ServiceBus too"),
    ({**EMULATORS, **in_azure()}, ENDPOINT, "and Cosmos too"),
    (in_azure(**{NAMESPACE: REMOTE_KEY}), NAMESPACE, "a connection string instead of a host name"),
    (in_azure(**{NAMESPACE: f"https://{SECRET[:-2]}.net"}), NAMESPACE, "names a scheme"),
    (in_azure(**{NAMESPACE: SECRET[:-2]}), NAMESPACE, "is no host name"),
    (in_azure(**{ENDPOINT: f"AccountKey={SECRET}"}), ENDPOINT, "instead of an address"),
    (in_azure(**{ENDPOINT: "http://contoso.documents.azure.com"}), ENDPOINT, "plain http"),
    (in_azure(**{ENDPOINT: "http://localhost:8081"}), ENDPOINT, "plain http"),
    (in_azure(**{ENDPOINT: f"https://contoso/{SECRET[:-2]}"}), ENDPOINT, "is no https address"),
    ({**EMULATORS, "ServiceBus": SECRET[:-2]}, "ServiceBus", "Name=Value; pairs"),
    ({**EMULATORS, "ServiceBus": f"{SERVICE_BUS_EMULATOR}{SECRET[:-2]}"}, "ServiceBus", "pairs"),
    ({**EMULATORS, "ServiceBus": REMOTE_KEY}, "ServiceBus", "keys are for emulators only"),
    (
        {**EMULATORS, "ServiceBus": SERVICE_BUS_EMULATOR.replace("=true", "=True")},
        "ServiceBus",
        "UseDevelopmentEmulator=true in lower case",
    ),
    (
        {**EMULATORS, "ServiceBus": f"{REMOTE_KEY};UseDevelopmentEmulator=true"},
        "ServiceBus",
        "sends a key of its own in the clear",
    ),
    (
        {**EMULATORS, "ServiceBus": SERVICE_BUS_EMULATOR.replace("sb://", "")},
        "ServiceBus",
        "has no Endpoint",
    ),
    ({**EMULATORS, "ServiceBus": "UseDevelopmentEmulator=true"}, "ServiceBus", "KeyName"),
    ({**EMULATORS, "ServiceBus": "UseDevelopmentEmulator=true"}, "ServiceBus", "SharedAccessKey;"),
    ({**EMULATORS, "Cosmos": SECRET[:-2]}, "Cosmos", "Name=Value; pairs"),
    ({**EMULATORS, "Cosmos": f"AccountKey={SECRET}"}, "Cosmos", "has no AccountEndpoint"),
    ({**EMULATORS, "Cosmos": "AccountEndpoint=http://[::1]:8081/"}, "Cosmos", "no AccountKey"),
    (
        {**EMULATORS, "Cosmos": "AccountEndpoint=http://localhost/;AccountKey=hunter22!"},
        "Cosmos",
        "has no AccountKey in Base64",
    ),
    (
        {**EMULATORS, "Cosmos": COSMOS_EMULATOR.replace("localhost", "emulator")},
        "Cosmos",
        "is plain http to another machine",
    ),
    (
        {**EMULATORS, "Cosmos": f"AccountEndpoint=https://contoso.com/;AccountKey={SECRET}"},
        "Cosmos",
        "keys are for emulators only",
    ),
    ({**EMULATORS, PROFILE: "{}"}, PROFILE, "cannot be read"),
    ({**EMULATORS, PROFILE: SECRET}, PROFILE, "cannot be read"),
    ({**EMULATORS, LOG_KEYS: SECRET}, LOG_KEYS, "is neither plain nor digest"),
]


@pytest.mark.case("DEP-01")
@pytest.mark.parametrize(("environment", "setting", "wrong"), BROKEN)
def test_a_problem_names_the_setting_and_what_is_legal_but_no_value(
    environment: dict[str, str], setting: str, wrong: str
) -> None:
    (problem,) = [text for text in problems(environment) if text.startswith(f"{setting} ")]
    assert wrong in problem
    assert "; legal is, for example, " in problem
    assert SECRET[:-2] not in problem


EVERYTHING_WRONG = {"ServiceBus": "?", ENDPOINT: "?", PROFILE: "?", LOG_KEYS: "?"}


def test_one_error_tells_every_problem() -> None:
    with pytest.raises(SettingsError) as raised:
        read_settings(EVERYTHING_WRONG)
    assert [problem.split()[0] for problem in raised.value.problems] == [*EVERYTHING_WRONG]
    assert all(problem in str(raised.value) for problem in raised.value.problems)


def legal(*settings: str) -> dict[str, str]:
    """What the error about everything calls legal."""
    told = dict(re.findall(r"(\w+)=(\S+)", " ".join(problems(EVERYTHING_WRONG))))
    return {setting: told[setting] for setting in settings}


@pytest.mark.parametrize("connections", [EMULATORS, in_azure()])
def test_what_is_called_legal_is_legal(connections: dict[str, str]) -> None:
    assert read_settings(legal(*connections, PROFILE, LOG_KEYS)).digest_keys


def test_contradictions_within_the_profile_are_passed_on() -> None:
    profile = json.loads(legal(PROFILE)[PROFILE])
    profile["retention"]["markerTimeToLive"] = "PT1H"
    (problem,) = problems({**EMULATORS, PROFILE: json.dumps(profile)})
    assert "profile local: markers live 1:00:00" in problem


def test_without_a_profile_the_defaults_hold_and_the_outage_they_endure_is_named() -> None:
    settings = read_settings(EMULATORS)
    assert settings.profile == Profile()
    (warning,) = settings.warnings
    assert PROFILE in warning
    assert "0:40:00" in warning


def test_keys_in_logs_are_plain_unless_a_digest_is_wanted() -> None:
    assert not read_settings(EMULATORS).digest_keys
    assert not read_settings({**EMULATORS, LOG_KEYS: "plain"}).digest_keys
    assert read_settings({**EMULATORS, LOG_KEYS: "digest"}).digest_keys


def test_the_repr_hides_keys() -> None:
    shown = repr(read_settings(EMULATORS))
    assert SERVICE_BUS_KEY not in shown
    assert COSMOS_KEY not in shown


PIECES = ["AccountEndpoint=", "AccountKey=", "Endpoint=", "http://", "sb://", "[::", "]:", "=", ";"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)


@given(st.dictionaries(st.sampled_from([*EMULATORS, *in_azure(), PROFILE, LOG_KEYS]), TEXTS))
def test_no_text_ends_in_another_error(environment: dict[str, str]) -> None:
    with suppress(SettingsError):
        read_settings(environment)


def write(path: Path, document: object) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def test_the_environment_wins_over_the_local_settings(tmp_path: Path) -> None:
    path = write(tmp_path / "local.settings.json", {"Values": {"A": "file", "B": "file"}})
    assert load_local_settings(path, {"B": "environment"}) == {"A": "file", "B": "environment"}


def test_a_byte_order_mark_as_windows_writes_it_is_no_obstacle(tmp_path: Path) -> None:
    path = write(tmp_path / "local.settings.json", '\ufeff{"Values": {"A": "file"}}')
    assert load_local_settings(path, {}) == {"A": "file"}


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        ("{", "is not JSON"),
        ([], 'has no "Values"'),
        ({"Values": []}, 'has no "Values"'),
        ({"IsEncrypted": True, "Values": {"A": SECRET}}, "is encrypted"),
        ({"Values": {"A": 1}}, 'A is no text; legal is {"A": "text"}'),
    ],
)
def test_a_file_that_is_none_of_local_settings_is_refused(
    tmp_path: Path, document: object, wrong: str
) -> None:
    path = write(tmp_path / "local.settings.json", document)
    with pytest.raises(SettingsError, match=re.escape(wrong)) as raised:
        load_local_settings(path, {})
    assert str(path) in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.json cannot be read: No such file"):
        load_local_settings(tmp_path / "absent.json", {})
