"""Microsoft's emulators get the same entities, on loopback, without a secret in the file."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from azure.core.exceptions import ServiceRequestError
from azure.cosmos.exceptions import CosmosHttpResponseError
from infra.create_containers import create_containers, main, once_it_answers

from local_azure.cosmos import ContainerProperties, LocalCosmos, load_containers

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
(ORDERS,) = load_containers(ROOT / "infra" / "local" / "cosmos.json")


def test_the_file_is_what_compose_takes() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    checked = subprocess.run(  # noqa: S603 - the interpreter and a tool of ours
        [sys.executable, "-m", "check_jsonschema", *schema, ROOT / "compose.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert set(SERVICES) >= {one for s in SERVICES.values() for one in s.get("depends_on", ())}


def test_every_image_is_microsofts() -> None:
    assert all(service["image"].startswith("mcr.microsoft.com/") for service in SERVICES.values())


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


def answered(status: int) -> CosmosHttpResponseError:
    return CosmosHttpResponseError(status)  # type: ignore[no-untyped-call]


def test_an_emulator_that_is_starting_is_waited_for_and_named_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    errors = [answered(503), ServiceRequestError("refused")]

    def step() -> list[str]:
        if errors:
            raise errors.pop()
        return ["shop/orders"]

    assert once_it_answers(step, 60, pause=0) == ["shop/orders"]
    assert capsys.readouterr().err == "waiting up to 60 s for Cosmos DB: refused\n"


@pytest.mark.parametrize(
    ("error", "seconds"), [(ServiceRequestError("refused"), 0), (answered(401), 60)]
)
def test_what_does_not_pass_is_not_waited_for(error: Exception, seconds: float) -> None:
    def step() -> None:
        raise error

    with pytest.raises(type(error)):
        once_it_answers(step, seconds, pause=0)


async def test_an_empty_cosmos_db_gets_the_containers_and_keeps_what_it_has() -> None:
    async with LocalCosmos() as cosmos:
        for _ in range(2):
            created = await asyncio.to_thread(create_containers, cosmos.connection_string)
            assert created == ["shop/orders"]
        assert cosmos.documents("shop/orders") == []


def test_what_never_answers_is_named_in_one_line() -> None:
    nobody = "AccountEndpoint=http://localhost:9/;AccountKey=bm9uZQ==;"
    said = main(["--cosmos", nobody, "--wait", "0"])
    assert said
    assert "port=9" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("existing", "said"),
    [
        (
            replace(ORDERS, partition_key_paths=("/id",)),
            "partition key /id, hash version 2, default TTL -1",
        ),
        (replace(ORDERS, hash_version=1), "partition key /orderId, hash version 1, default TTL -1"),
        (
            replace(ORDERS, default_ttl=None),
            "partition key /orderId, hash version 2, default TTL off",
        ),
    ],
)
async def test_a_container_that_exists_as_another_is_no_success(
    existing: ContainerProperties, said: str
) -> None:
    async with LocalCosmos([existing]) as cosmos:
        ended = await asyncio.to_thread(main, ["--cosmos", cosmos.connection_string])
    assert ended == (
        f"shop/orders exists with {said}; "
        "wanted is partition key /orderId, hash version 2, default TTL -1"
    )
