"""The commands, each in a module of its own."""

from __future__ import annotations

import typer

from idempotent_consumer.cli.doctor import doctor
from idempotent_consumer.cli.send import send
from idempotent_consumer.cli.worker import worker

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its frames would show the values of variables
    help="Azure Service Bus messages take effect once, as documents in Azure Cosmos DB.",
)
for command in (worker, send, doctor):
    app.command()(command)
