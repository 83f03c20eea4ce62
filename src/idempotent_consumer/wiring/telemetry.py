"""Where telemetry goes: to Azure Monitor, or by OpenTelemetry's own exporters; else nowhere.

For a process that is this library's own, the worker of the command line. A Functions host
sets this up itself, and so does an application that runs a `Worker` within it.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

from idempotent_consumer.settings import SettingsError
from idempotent_consumer.telemetry import LOGGER

if TYPE_CHECKING:
    from collections.abc import Mapping

CONNECTION_STRING = "APPLICATIONINSIGHTS_CONNECTION_STRING"
EXPORTERS = ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER")
ENDPOINTS = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": EXPORTERS,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": EXPORTERS[:1],
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": EXPORTERS[1:2],
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": EXPORTERS[2:],
}
"""Each with the exporters that it speaks for, where they are not set."""
DISABLED = "OTEL_SDK_DISABLED"

CALL_LIMIT = 3
"""Seconds for one call of the endpoint: at its end a process waits for one of each signal."""

READ_FROM_THE_PROCESS = ("APPLICATIONINSIGHTS_", "OTEL_")
"""Prefixes of settings that the exporters read from the process's environment alone."""

INSTRUMENTED = (
    *("azure_sdk", "django", "fastapi", "flask", "httpx", "httpx2"),
    *("psycopg2", "requests", "urllib", "urllib3"),
)
"""What Azure Monitor's distribution would trace besides. A span for each request to Cosmos DB
costs more than all that this library does with a message, and its URL holds the key."""

_LEGAL = (
    f"{CONNECTION_STRING}=InstrumentationKey=00000000-0000-0000-0000-000000000000;"
    "IngestionEndpoint=https://westeurope-5.in.applicationinsights.azure.com/"
)


def configure(environment: Mapping[str, str]) -> None:
    """Exports what is logged, counted and traced, if the settings name a place.

    A connection string of Application Insights goes before the settings of OpenTelemetry.
    Where exporters are set up already, as ``opentelemetry-instrument`` does, they stay.

    Raises:
        SettingsError: The settings cannot be used, or what they need is not installed.
    """
    is_disabled = environment.get(DISABLED, "").strip().lower() == "true"
    if is_disabled or not isinstance(get_tracer_provider(), ProxyTracerProvider):
        return
    connection_string = environment.get(CONNECTION_STRING, "").strip()
    if connection_string:
        _pass_on(environment)
        _export_to_azure_monitor(connection_string)
    elif named := [name for name in (*EXPORTERS, *ENDPOINTS) if _names_a_place(environment, name)]:
        _pass_on(environment)
        _export_by_opentelemetry(named)


def _export_to_azure_monitor(connection_string: str) -> None:
    try:
        from azure.monitor.opentelemetry import configure_azure_monitor  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise _extra_is_missing(CONNECTION_STRING, missing) from None
    logging.getLogger("azure.monitor").setLevel(logging.WARNING)
    try:
        configure_azure_monitor(
            connection_string=connection_string,
            logger_name=LOGGER,
            enable_live_metrics=False,
            enable_performance_counters=False,
            instrumentation_options={name: {"enabled": False} for name in INSTRUMENTED},
            timeout=CALL_LIMIT,
            read_timeout=CALL_LIMIT,
            retry_total=0,  # what is not sent is kept on disk, and sent later
        )
    except ValueError as error:
        problem = f"{CONNECTION_STRING} is wrong ({error}); legal is, for example, {_LEGAL}"
        raise SettingsError([problem]) from None


def _export_by_opentelemetry(named: list[str]) -> None:
    try:
        from opentelemetry.instrumentation.logging.handler import LoggingHandler  # noqa: PLC0415

        # Private, yet the only thing that reads all settings; every distribution builds on it.
        from opentelemetry.sdk._configuration import _OTelSDKConfigurator  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise _extra_is_missing(" and ".join(named), missing) from None
    for name in named:
        for exporter in ENDPOINTS.get(name, ()):
            os.environ.setdefault(exporter, "otlp")
    try:
        _OTelSDKConfigurator().configure()  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        problem = (
            f"{' and '.join(named)} cannot be used ({error}); "
            "otlp, for example, needs: pip install opentelemetry-exporter-otlp"
        )
        raise SettingsError([problem]) from None
    logging.getLogger(LOGGER).addHandler(LoggingHandler())


def _names_a_place(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() not in {"", "none"}


def _pass_on(environment: Mapping[str, str]) -> None:
    names = [name for name in environment if name.startswith(READ_FROM_THE_PROCESS)]
    os.environ.update({name: environment[name] for name in names})


def _extra_is_missing(settings: str, missing: ModuleNotFoundError) -> SettingsError:
    problem = (
        f"{settings} is set, and {missing.name} is not installed: "
        "pip install 'idempotent-consumer[telemetry]'"
    )
    return SettingsError([problem])
