"""The commands, each in a module of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from idempotent_consumer.cli.doctor import doctor
from idempotent_consumer.cli.send import send
from idempotent_consumer.cli.worker import worker

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its frames would show the values of variables
)
for command in (worker, send, doctor):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("idempotent-consumer"))
        raise typer.Exit


@app.callback()
def describe(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Azure Service Bus messages take effect once, as documents in Azure Cosmos DB."""
