"""Microsoft's emulators get the same entities, on loopback, without a secret in the file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import yaml
from infra.create_containers import create_containers

from local_azure.cosmos import LocalCosmos

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
KNOWN = {"image", "environment", "ports", "volumes", "depends_on", "command"}


def test_each_service_says_what_compose_knows_and_no_more() -> None:
    assert {name for service in SERVICES.values() for name in service} <= KNOWN
    assert all(service["image"].startswith("mcr.microsoft.com/") for service in SERVICES.values())
    assert set(SERVICES) >= {one for s in SERVICES.values() for one in s.get("depends_on", ())}


def test_every_port_is_open_to_this_machine_alone() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert {port.split(":")[1] for port in ports} >= {"5672", "5300", "8081"}


def test_the_entities_are_those_of_the_contract() -> None:
    (mounted,) = SERVICES["servicebus"]["volumes"]
    source, target, mode = mounted.split(":")
    assert (ROOT / source).is_file()
    assert (target, mode) == ("/ServiceBus_Emulator/ConfigFiles/Config.json", "ro")


def test_licence_and_password_are_the_users_to_give() -> None:
    for name in ("servicebus", "sql"):
        environment = SERVICES[name]["environment"]
        assert environment["ACCEPT_EULA"].startswith("${ACCEPT_EULA:?")
        assert environment["MSSQL_SA_PASSWORD"].startswith("${MSSQL_SA_PASSWORD:?")


async def test_an_empty_cosmos_db_gets_the_containers_and_keeps_what_it_has() -> None:
    async with LocalCosmos() as cosmos:
        for _ in range(2):
            created = await asyncio.to_thread(create_containers, cosmos.connection_string)
            assert created == ["shop/orders"]
        assert cosmos.documents("shop/orders") == []
