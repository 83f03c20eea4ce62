"""Where telemetry goes is what the settings say; without any of them it goes nowhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider
from typer.testing import CliRunner

from idempotent_consumer.cli.commands import app
from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.settings import COSMOS_EMULATOR, SERVICE_BUS_EMULATOR, SettingsError
from idempotent_consumer.telemetry import HANDLED, MESSAGES
from idempotent_consumer.wiring.telemetry import CONNECTION_STRING, ENDPOINTS, configure

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
LEGAL = (
    "InstrumentationKey=00000000-0000-0000-0000-000000000001;IngestionEndpoint=http://127.0.0.1:1"
)
CONSOLE = {
    "OTEL_TRACES_EXPORTER": "console",
    "OTEL_METRICS_EXPORTER": "console",
    "OTEL_LOGS_EXPORTER": "console",
}
PROGRAM = """
import json, sys
from idempotent_consumer.telemetry import LogTelemetry
from idempotent_consumer.wiring.telemetry import configure
from tests.unit.test_telemetry import handled
from idempotent_consumer.core.outcome import Outcome, OutcomeName

configure(json.loads(sys.argv[1]))
telemetry, event = LogTelemetry("orders"), handled(Outcome(name=OutcomeName.MISMATCH))
with telemetry.handling(event.delivery):
    telemetry.record(event)
"""


@pytest.fixture(autouse=True)
def environ(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting stays behind, and the exporter does not ask Microsoft how to behave."""
    silent = {"APPLICATIONINSIGHTS_CONTROLPLANE_DISABLED": "true"}
    monkeypatch.setattr("os.environ", os.environ | silent)


def is_exporting() -> bool:
    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def run(settings: Mapping[str, str]) -> str:
    """What a process says that exports by these settings."""
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", PROGRAM, json.dumps(settings)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def problem(settings: Mapping[str, str]) -> str:
    with pytest.raises(SettingsError) as raised:
        configure(settings)
    (text,) = raised.value.problems
    return text


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {CONNECTION_STRING: " ", "OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "None"},
        {"OTEL_SERVICE_NAME": "shop", "OTEL_TRACES_SAMPLER": "always_on"},
        CONSOLE | {"OTEL_SDK_DISABLED": "true"},
        {CONNECTION_STRING: LEGAL, "OTEL_SDK_DISABLED": " True "},
    ],
)
def test_without_a_setting_that_names_a_place_nothing_is_exported(
    settings: Mapping[str, str],
) -> None:
    configure(settings)
    assert not is_exporting()


def test_opentelemetrys_own_settings_are_followed() -> None:
    told = run(CONSOLE)
    assert '"name": "process orders"' in told
    assert f'"name": "{MESSAGES}"' in told
    assert f'"body": "{HANDLED}"' in told


def test_a_setting_of_opentelemetry_may_stand_in_a_settings_file() -> None:
    """The SDK reads the process's environment alone, so they are handed on."""
    told = run(CONSOLE | {"OTEL_SERVICE_NAME": "shop", "OTEL_TRACES_SAMPLER": "always_off"})
    assert '"service.name": "shop"' in told
    assert '"name": "process orders"' not in told


@pytest.mark.parametrize("wrong", ["nonsense", "InstrumentationKey=7", "IngestionEndpoint=x"])
def test_a_connection_string_that_is_none_is_said_with_a_legal_one(wrong: str) -> None:
    text = problem({CONNECTION_STRING: wrong})
    assert text.startswith(f"{CONNECTION_STRING} is wrong (")
    assert f"legal is, for example, {CONNECTION_STRING}=InstrumentationKey=" in text


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_an_exporter_that_is_not_installed_is_said(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ENDPOINTS[endpoint]:
        monkeypatch.delenv(name, raising=False)
    text = problem({endpoint: "http://127.0.0.1:4317"})
    assert text.startswith(f"{endpoint} cannot be used (")
    assert text.endswith("pip install opentelemetry-exporter-otlp")


@pytest.mark.parametrize(
    ("settings", "module"),
    [
        ({CONNECTION_STRING: LEGAL}, "azure.monitor.opentelemetry"),
        (CONSOLE, "opentelemetry.sdk._configuration"),
    ],
)
def test_a_setting_whose_extra_is_not_installed_is_said(
    settings: Mapping[str, str], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert problem(settings) == (
        f"{' and '.join(settings)} is set, and {module} is not installed: "
        "pip install 'idempotent-consumer[telemetry]'"
    )


def test_exporters_that_are_set_up_already_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever set them up decides: the wrong setting is not even read."""
    monkeypatch.setattr("idempotent_consumer.wiring.telemetry.get_tracer_provider", lambda: None)
    configure({CONNECTION_STRING: "nonsense"})


def test_a_worker_does_not_start_where_its_telemetry_could_not() -> None:
    settings = {
        "ServiceBus": SERVICE_BUS_EMULATOR,
        "Cosmos": COSMOS_EMULATOR,
        CONNECTION_STRING: "nonsense",
    }
    started = CliRunner().invoke(app, ["worker", "--queue", "orders"], env=settings)
    assert started.exit_code == ExitCode.SETTINGS
    assert f"- {CONNECTION_STRING} is wrong" in started.stderr
