"""``idempotent-consumer worker``: handles the messages of a queue."""

from __future__ import annotations

from typing import Annotated

import typer

from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.cli.options import (
    AsJson,
    Connection,
    Queue,
    SettingsFile,
    Target,
    environment_of,
)
from idempotent_consumer.cli.output import give_up, log_to_stderr
from idempotent_consumer.cli.target import NoConsumer, find_consumer
from idempotent_consumer.settings import SettingsError
from idempotent_consumer.wiring.telemetry import configure
from idempotent_consumer.wiring.worker import Worker


def worker(
    queue: Queue,
    target: Target = None,
    settings: SettingsFile = None,
    connection: Connection = "ServiceBus",
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1000, help="Messages handled at a time.")
    ] = 16,
    as_json: AsJson = False,
    verbose: Annotated[
        bool | None,
        typer.Option(help="Log each applied message as well; by default on a terminal."),
    ] = None,
) -> None:
    """Handle the messages of a queue until SIGTERM or Ctrl+C."""
    log_to_stderr(as_json=as_json, verbose=verbose)
    try:
        environment = environment_of(settings)
        working = Worker(
            find_consumer(target),
            queue_name=queue,
            connection=connection,
            concurrency=concurrency,
            environment=environment,
        )
        configure(environment)
    except (NoConsumer, SettingsError) as error:
        give_up(ExitCode.SETTINGS, str(error), as_json=as_json)
    working.run()
