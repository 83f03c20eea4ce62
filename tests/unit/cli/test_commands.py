from __future__ import annotations

import json
from importlib.metadata import version
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


def test_it_tells_its_version() -> None:
    assert run("--version").stdout == version("idempotent-consumer") + "\n"


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
        ("bare:orders", "bare has no handler"),
        ("broken:orders", r"cannot be imported: AttributeError\(.*broken.py:2"),
    ],
)
def test_what_is_no_consumer_is_said(
    target: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare.py").write_text(
        "from idempotent_consumer import Consumer, Container, Entity\n"
        "orders = Consumer('bare', Container('shop/orders', '/orderId'), marker=Entity())\n"
    )
    (tmp_path / "broken.py").write_text("import os\norders = os.nothing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoConsumer, match=problem):
        find_consumer(target)


def test_a_project_that_names_no_consumer_is_told_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoConsumer, match=r"Say --app module:name, or app = 'module:name'"):
        find_consumer(None)


@pytest.mark.parametrize(
    "project", ["not toml", "[tool]\nidempotent-consumer = 'x'"], ids=["text", "table"]
)
def test_a_project_file_that_says_nothing_of_use_is_told(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(project)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoConsumer, match=r"pyproject\.toml"):
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


@pytest.mark.parametrize("message_id", ["", " ", "x" * 129])
def test_a_message_id_that_would_name_nothing_is_refused(message_id: str) -> None:
    """The SDK would send a random one in place of none."""
    result = run("send", "--queue", "orders", "--message-id", message_id, "{}", ServiceBus=NOBODY)
    assert result.exit_code == ExitCode.USAGE
    assert "1 to 128 characters" in result.stderr.replace("\n", " ")


def test_a_blank_queue_is_refused() -> None:
    assert run("send", "--queue", " ", "--message-id", "m", "{}").exit_code == ExitCode.USAGE


def test_a_broker_that_cannot_be_reached_is_named() -> None:
    result = run(*("send", "--queue", "orders", "--message-id", "ord-1", "{}"), ServiceBus=NOBODY)
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "0 of 1 messages sent to queue 'orders' of 127.0.0.1:1: unreachable" in result.stderr


def test_a_blocked_worker_ends_with_the_documented_code() -> None:
    assert watchdog.EXIT_CODE == ExitCode.BLOCKED
