"""The commands: each reads its arguments, calls one function, and says what came of it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.cli.output import give_up, log_to_stderr, say, say_warnings
from idempotent_consumer.cli.target import NoConsumer, find_consumer
from idempotent_consumer.servicebus.sender import OutgoingMessage, SendFailed, send
from idempotent_consumer.settings import (
    ServiceBusSettings,
    SettingsError,
    load_local_settings,
    read_service_bus,
)
from idempotent_consumer.wiring.service_bus import service_bus
from idempotent_consumer.wiring.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its frames would show the values of variables
    help="Azure Service Bus messages take effect once, as documents in Azure Cosmos DB.",
)

Queue = Annotated[str, typer.Option("--queue", help="The queue's name.")]
Connection = Annotated[
    str, typer.Option("--connection", help="The setting that holds the Service Bus connection.")
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        help="A Functions local.settings.json; settings of the environment go before.",
        dir_okay=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Speak JSON, one object a line.")]


@app.command("worker")
def work(  # each is an option
    queue: Queue,
    target: Annotated[
        str | None,
        typer.Option(
            "--app",
            help="The consumer, as module:name; by default the app that "
            "pyproject.toml names under tool.idempotent-consumer.",
        ),
    ] = None,
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
        worker = Worker(
            find_consumer(target),
            queue_name=queue,
            connection=connection,
            concurrency=concurrency,
            environment=_environment(settings),
        )
    except (NoConsumer, SettingsError) as error:
        give_up(ExitCode.SETTINGS, str(error), as_json=as_json)
    say_warnings(worker.warnings)
    worker.run()


@app.command("send")
def send_message(  # each is an option
    body: Annotated[str, typer.Argument(help="The body; - reads standard input, @FILE a file.")],
    queue: Queue,
    message_id: Annotated[str, typer.Option("--message-id", help="The MessageId.")],
    subject: Annotated[str | None, typer.Option("--subject", help="The message's type.")] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", help="An application property, as NAME=TEXT.", metavar="N=T"),
    ] = None,
    settings: SettingsFile = None,
    connection: Connection = "ServiceBus",
    as_json: AsJson = False,
) -> None:
    """Send one message to a queue."""
    log_to_stderr(as_json=as_json, verbose=False)
    message = OutgoingMessage(
        message_id=message_id,
        body=_body(body),
        subject=subject,
        properties=dict(map(_property, properties or [])),
    )
    try:
        asyncio.run(
            _send(read_service_bus(_environment(settings), connection=connection), queue, message)
        )
    except SettingsError as error:
        give_up(ExitCode.SETTINGS, str(error), as_json=as_json)
    except SendFailed as failure:
        give_up(ExitCode.UNREACHABLE, str(failure), as_json=as_json)
    say(
        {"sent": message_id, "queue": queue},
        f"sent {message_id} to {queue}",
        as_json=as_json,
    )


async def _send(settings: ServiceBusSettings, queue: str, message: OutgoingMessage) -> None:
    async with service_bus(settings) as client:
        await send(client, queue, [message], client_id=settings.client_id)


def _environment(settings: Path | None) -> Mapping[str, str]:
    return os.environ if settings is None else load_local_settings(settings, os.environ)


def _body(argument: str) -> bytes:
    if argument == "-":
        return sys.stdin.buffer.read()
    if not argument.startswith("@"):
        return argument.encode()
    try:
        return Path(argument[1:]).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{argument[1:]} cannot be read: {error.strerror}") from None


def _property(argument: str) -> tuple[str, str]:
    name, equals, text = argument.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"write a property like tenant=eu, not {argument!r}")
    return name, text
