"""``idempotent-consumer doctor``: says what is wrong with a set-up, and what mends it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.cli.options import (
    AsJson,
    Connection,
    Queue,
    SettingsFile,
    Target,
    environment_of,
)
from idempotent_consumer.cli.output import give_up, log_to_stderr, say
from idempotent_consumer.cli.target import NoConsumer, find_consumer
from idempotent_consumer.doctor import (
    Finding,
    Severity,
    check,
    examine,
    management_address,
    settings_findings,
)
from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.settings import SettingsError, read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from idempotent_consumer.core.consumer import Consumer

_STYLES = {Severity.OK: "green", Severity.NOTE: "yellow", Severity.PROBLEM: "bold red"}


def doctor(
    queue: Queue,
    target: Target = None,
    settings: SettingsFile = None,
    connection: Connection = "ServiceBus",
    as_json: AsJson = False,
) -> None:
    """Check settings, queue and container, and say what mends each problem."""
    log_to_stderr(as_json=as_json, verbose=False)
    try:
        consumer = find_consumer(target)
        findings = _findings(consumer, queue, connection, environment_of(settings))
    except NoConsumer as error:
        give_up(ExitCode.SETTINGS, str(error), as_json=as_json)
    except SettingsError as error:
        _report(settings_findings(error.problems), as_json=as_json)
        sys.exit(ExitCode.SETTINGS)
    _report(findings, as_json=as_json)
    sys.exit(_exit_code(findings))


def _findings(
    consumer: Consumer, queue: str, connection: str, environment: Mapping[str, str]
) -> Sequence[Finding]:
    settings = read_settings(environment, service_bus=connection, cosmos=consumer.connection)
    facts = examine(
        consumer.container,
        queue,
        settings,
        management=management_address(settings.service_bus, environment),
        now=SystemClock().now,
    )
    return check(asyncio.run(facts))


def _exit_code(findings: Sequence[Finding]) -> ExitCode:
    if any(finding.unreachable for finding in findings):
        return ExitCode.UNREACHABLE
    if any(finding.severity is Severity.PROBLEM for finding in findings):
        return ExitCode.PROBLEMS
    return ExitCode.DONE


def _report(findings: Sequence[Finding], *, as_json: bool) -> None:
    """A table on a terminal; else a line each."""
    if sys.stdout.isatty() and not as_json:
        _show_table(findings)
    else:
        for finding in findings:
            say(asdict(finding), _line(finding), as_json=as_json)


def _line(finding: Finding) -> str:
    mend = f"\n{'':9}mend: {finding.mend}" if finding.mend else ""
    return f"{finding.severity:8} {finding.check}: {finding.what}{mend}"


def _show_table(findings: Sequence[Finding]) -> None:
    console = Console()
    table = Table("", "check", "found")
    for finding in findings:
        mark = Text(finding.severity, style=_STYLES[finding.severity])
        table.add_row(mark, finding.check, Text(finding.what))
    console.print(table)
    for finding in findings:
        if finding.mend:  # below the table, where a command can be copied in one piece
            heading = (f"{finding.check}: ", _STYLES[finding.severity])
            console.print(Text.assemble(heading, finding.mend), soft_wrap=True)
