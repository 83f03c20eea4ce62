"""How the commands speak: to people on a terminal, line by line in a log, or as JSON."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console
from rich.text import Text

from idempotent_consumer.telemetry import JsonFormatter, LineFormatter, log_to

if TYPE_CHECKING:
    from idempotent_consumer.cli.exit_codes import ExitCode

_STYLES = {
    logging.DEBUG: "green",
    logging.INFO: "",
    logging.WARNING: "yellow",
    logging.ERROR: "bold red",
}


class TerminalHandler(logging.Handler):
    """One coloured line a record."""

    def __init__(self) -> None:
        super().__init__()
        self._console = Console(stderr=True)

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print(
            Text(self.format(record), style=_STYLES.get(record.levelno, "")), soft_wrap=True
        )


def log_to_stderr(*, as_json: bool, verbose: bool | None) -> None:
    """Sends the library's log to standard error.

    Args:
        verbose: Shows each message that is simply applied as well; left out, on a terminal.
    """
    on_terminal = sys.stderr.isatty() and not as_json
    shows_all = on_terminal if verbose is None else verbose
    log_to(
        TerminalHandler() if on_terminal else logging.StreamHandler(),
        JsonFormatter() if as_json else LineFormatter(),
        level=logging.DEBUG if shows_all else logging.INFO,
    )


def say(result: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Prints what a command did."""
    print(json.dumps(result) if as_json else text)  # noqa: T201  # this is the command's output


def give_up(code: ExitCode, text: str, *, as_json: bool) -> NoReturn:
    """Says why the command ends, and ends it."""
    shown = json.dumps({"error": text, "exitCode": int(code)}) if as_json else text
    print(shown, file=sys.stderr)  # noqa: T201  # this is the command's output
    sys.exit(code)
