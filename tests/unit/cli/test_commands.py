from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from idempotent_consumer.cli.commands import app
from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.cli.target import NoConsumer, find_consumer
from idempotent_consumer.settings import COSMOS_EMULATOR, SERVICE_BUS_EMULATOR
from idempotent_consumer.worker import watchdog
from shop.app import orders

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

NOBODY = "Endpoint=sb://127.0.0.1:1;" + SERVICE_BUS_EMULATOR.partition(";")[2]


def run(*arguments: str, **settings: str) -> Result:
    cleared = {"ServiceBus": "", "Cosmos": "", "IDEMPOTENT_CONSUMER_PROFILE": ""}
    return CliRunner().invoke(app, arguments, env=cleared | settings)


def test_a_consumer_is_found_by_module_and_name() -> None:
    assert find_consumer("shop.app:orders") is orders


def test_a_consumer_is_found_where_the_project_names_it() -> None:
    assert find_consumer(None) is orders


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("shop.app", "write the app like 'shop.app:orders'"),
        ("nowhere.app:orders", "no module 'nowhere'"),
        ("shop.app:nothing", "'shop.app' has no 'nothing'"),
        ("shop.domain:Order", "is no Consumer"),
    ],
)
def test_what_is_no_consumer_is_said(target: str, problem: str) -> None:
    with pytest.raises(NoConsumer, match=problem):
        find_consumer(target)


def test_a_project_that_names_no_consumer_is_told_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoConsumer, match=r"Say --app module:name, or app = 'module:name'"):
        find_consumer(None)


def test_wrong_settings_stop_the_start_with_every_problem() -> None:
    result = run("worker", "--queue", "orders", IDEMPOTENT_CONSUMER_PROFILE="{}")
    assert result.exit_code == ExitCode.SETTINGS
    for name in ("ServiceBus__fully", "Cosmos__account", "IDEMPOTENT_CONSUMER_PROFILE"):
        assert f"- {name}" in result.stderr


def test_a_wrong_app_stops_the_start() -> None:
    settings = {"ServiceBus": SERVICE_BUS_EMULATOR, "Cosmos": COSMOS_EMULATOR}
    result = run("worker", "--queue", "orders", "--app", "shop.app:nothing", **settings)
    assert (result.exit_code, result.stderr) == (
        ExitCode.SETTINGS,
        "module 'shop.app' has no 'nothing'\n",
    )


def test_machines_are_told_in_json() -> None:
    result = run("worker", "--queue", "orders", "--app", "shop.app:nothing", "--json")
    told = json.loads(result.stderr)
    assert told == {"error": "module 'shop.app' has no 'nothing'", "exitCode": 3}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--property", "tenant", "{}"), "write a property like tenant=eu"),
        (("@/nowhere/order.json",), "cannot be read: No such file"),
        ((), "Missing argument"),
    ],
)
def test_a_command_line_that_cannot_be_used_is_told_why(
    arguments: tuple[str, ...], problem: str
) -> None:
    result = run("send", "--queue", "orders", "--message-id", "ord-1", *arguments)
    assert result.exit_code == ExitCode.USAGE
    assert problem in result.stderr.replace("\n", " ")


def test_a_broker_that_cannot_be_reached_is_named() -> None:
    result = run(*("send", "--queue", "orders", "--message-id", "ord-1", "{}"), ServiceBus=NOBODY)
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "0 of 1 messages sent to queue 'orders' of 127.0.0.1:1: unreachable" in result.stderr


def test_a_blocked_worker_ends_with_the_documented_code() -> None:
    assert watchdog.EXIT_CODE == ExitCode.BLOCKED
