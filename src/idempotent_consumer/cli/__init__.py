"""The command line: ``idempotent-consumer worker`` and ``idempotent-consumer send``."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command that the arguments name."""
    try:
        from idempotent_consumer.cli.commands import app  # noqa: PLC0415  # needs the extra
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing.name} is missing: pip install 'idempotent-consumer[cli]'")
    app(prog_name="idempotent-consumer")
