"""Writes what follows from `contract.json`: host.json, entities for the emulators, settings.

Both kinds of emulator read the files of `infra/local`: the embedded ones and Microsoft's.
With ``--check`` nothing is written; the exit code is 1 if a file is stale.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idempotent_consumer import settings
from idempotent_consumer.core.profile import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]

NAMESPACE = "sbemulatorns"
"""The only namespace that Microsoft's emulator has."""


def load_contract() -> dict[str, Any]:
    """The contract, all profiles of it."""
    contract: dict[str, Any] = json.loads((ROOT / "infra" / "contract.json").read_text("utf-8"))
    return contract


def profile(contract: dict[str, Any], name: str) -> dict[str, Any]:
    """One profile with all that it shares with the others: the value of the app setting."""
    shared = {part: contract[part] for part in ("contractVersion", "host", "cosmos")}
    return {"profile": name, **shared, **contract["profiles"][name]}


def service_bus_config(local: dict[str, Any]) -> dict[str, Any]:
    """The entities, in the format of Microsoft's Service Bus emulator."""
    properties = {name[0].upper() + name[1:]: value for name, value in local["queue"].items()}
    queue = {"Name": properties.pop("Name"), "Properties": properties}
    namespace = {"Name": NAMESPACE, "Queues": [queue], "Topics": []}
    return {"UserConfig": {"Namespaces": [namespace], "Logging": {"Type": "Console"}}}


def host_json(host: dict[str, Any]) -> dict[str, Any]:
    """What the Functions host does; the same in every profile."""
    return {
        "version": "2.0",
        "functionTimeout": time_span(host["functionTimeout"]),
        "extensionBundle": {
            "id": "Microsoft.Azure.Functions.ExtensionBundle",
            "version": "[4.*, 5.0.0)",
        },
        "extensions": {
            "serviceBus": {
                "autoCompleteMessages": False,
                "prefetchCount": 0,  # the host renews no lock of a message that it prefetched
                "maxConcurrentCalls": host["maxConcurrentCalls"],
                "maxAutoLockRenewalDuration": time_span(host["maxAutoLockRenewalDuration"]),
                "clientRetryOptions": {
                    "mode": "exponential",
                    "tryTimeout": "00:00:20",
                    "delay": "00:00:00.8",
                    "maxDelay": "00:00:10",
                    "maxRetries": 2,
                },
            }
        },
        "logging": {
            "applicationInsights": {
                "samplingSettings": {"isEnabled": True, "excludedTypes": "Request;Exception"}
            }
        },
    }


def time_span(text: str) -> str:
    """An ISO 8601 duration as .NET writes one of less than a day."""
    minutes, seconds = divmod(int(duration(text).total_seconds()), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def local_settings(local: dict[str, Any]) -> dict[str, Any]:
    """Settings under which host and worker run against the emulators on this machine."""
    values = {
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "AzureWebJobsStorage": "UseDevelopmentStorage=true",
        "ORDERS_QUEUE": local["queue"]["name"],
        "ServiceBus": settings.SERVICE_BUS_EMULATOR,
        "Cosmos": settings.COSMOS_EMULATOR,
        settings.PROFILE: json.dumps(local, separators=(",", ":")),
        settings.LOG_KEYS: "plain",
    }
    return {"IsEncrypted": False, "Values": values}


def generated() -> dict[Path, str]:
    """Each generated file and what it holds."""
    local = profile(load_contract(), "local")
    documents = {
        ROOT / "host.json": host_json(local["host"]),
        ROOT / "infra" / "local" / "Config.json": service_bus_config(local),
        ROOT / "infra" / "local" / "cosmos.json": local["cosmos"],
        ROOT / "local.settings.sample.json": local_settings(local),
    }
    return {path: json.dumps(document, indent=2) + "\n" for path, document in documents.items()}


def stale() -> dict[Path, str]:
    """The files that do not hold what they should, and what that is."""
    return {
        path: text
        for path, text in generated().items()
        if not path.is_file() or path.read_text("utf-8") != text
    }


def main(arguments: Sequence[str] | None = None) -> str | None:
    """Runs the command; the text says why it failed."""
    parser = ArgumentParser(description="Writes what follows from infra/contract.json.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    if parser.parse_args(arguments).check:
        names = [str(path.relative_to(ROOT)) for path in stale()]
        return f"stale: {', '.join(names)}; run python infra/generate.py" if names else None
    for path, text in stale().items():
        path.write_text(text, "utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
