"""How the command speaks, and how it ends; what it finds is tested where it is found."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from idempotent_consumer.cli import doctor as command
from idempotent_consumer.cli.commands import app
from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.doctor import MANAGEMENT
from idempotent_consumer.doctor.findings import note, ok, problem
from idempotent_consumer.settings import COSMOS_EMULATOR, SERVICE_BUS_EMULATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer.testing import Result

    from idempotent_consumer.doctor import Finding

SETTINGS = {"ServiceBus": SERVICE_BUS_EMULATOR, "Cosmos": COSMOS_EMULATOR}
MEND = "az servicebus queue update --name orders " + " ".join(["--max-delivery-count 10"] * 9)
WELL = ok("container", "shop/orders is there")
NOTE = note("time to live", "a default", "az cosmosdb sql container update")
WRONG = problem("max delivery count", "is 3, must be 10", MEND)
SILENT = problem("account", "does not answer", unreachable=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def doctor(monkeypatch: pytest.MonkeyPatch, findings: Sequence[Finding], *options: str) -> Result:
    """The command, with findings in place of a look at the services."""
    monkeypatch.setattr(command, "_findings", lambda *_: findings)
    return CliRunner().invoke(app, ("doctor", "--queue", "orders", *options))


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ((WELL, NOTE), ExitCode.DONE),
        ((WELL, WRONG), ExitCode.PROBLEMS),
        ((WRONG, SILENT), ExitCode.UNREACHABLE),
    ],
)
def test_the_exit_code_is_the_worst_of_the_findings(
    monkeypatch: pytest.MonkeyPatch, findings: tuple[Finding, ...], code: ExitCode
) -> None:
    assert doctor(monkeypatch, findings).exit_code == code


def test_a_log_has_a_line_for_each_and_one_for_what_mends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert doctor(monkeypatch, (WELL, WRONG)).stdout == (
        "ok       container: shop/orders is there\n"
        "problem  max delivery count: is 3, must be 10\n"
        f"         mend: {MEND}\n"
    )


def test_machines_are_told_an_object_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    said = doctor(monkeypatch, (WELL, SILENT), "--json").stdout.splitlines()
    assert [json.loads(line) for line in said] == [
        {
            "severity": "ok",
            "check": "container",
            "what": "shop/orders is there",
            "mend": "",
            "unreachable": False,
        },
        {
            "severity": "problem",
            "check": "account",
            "what": "does not answer",
            "mend": "",
            "unreachable": True,
        },
    ]


def test_a_terminal_shows_a_table_and_each_command_in_one_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    command._report((WELL, WRONG), as_json=False)
    shown = terminal.getvalue()
    assert "shop/orders is there" in shown
    assert MEND in shown.replace("\x1b[0m", "")


def test_an_app_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    result = doctor(monkeypatch, (), "--app", "shop.app:nothing")
    assert (result.exit_code, result.stderr) == (
        ExitCode.SETTINGS,
        "module 'shop.app' has no 'nothing'\n",
    )


def test_a_management_address_that_is_none_is_a_problem_of_the_settings() -> None:
    settings = {**SETTINGS, MANAGEMENT: "localhost"}
    result = CliRunner().invoke(app, ("doctor", "--queue", "orders"), env=settings)
    assert result.exit_code == ExitCode.SETTINGS
    assert f"problem  settings: {MANAGEMENT} is no http address" in result.stdout
