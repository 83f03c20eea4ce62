"""``idempotent-consumer send``: sends one message."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.cli.options import (
    AsJson,
    Connection,
    Queue,
    SettingsFile,
    environment_of,
)
from idempotent_consumer.cli.output import give_up, log_to_stderr, say
from idempotent_consumer.servicebus import sender
from idempotent_consumer.servicebus.sender import OutgoingMessage, SendFailed
from idempotent_consumer.settings import SettingsError, read_service_bus
from idempotent_consumer.wiring.service_bus import service_bus

if TYPE_CHECKING:
    from idempotent_consumer.settings import ServiceBusSettings

MAX_ID = 128


def _message_id(value: str) -> str:
    if not value.strip() or len(value) > MAX_ID:
        raise typer.BadParameter(f"a MessageId has 1 to {MAX_ID} characters, not all blank")
    return value


def send(
    body: Annotated[str, typer.Argument(help="The body; - reads standard input, @FILE a file.")],
    queue: Queue,
    message_id: Annotated[
        str, typer.Option("--message-id", callback=_message_id, help="The MessageId.")
    ],
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
        bus = read_service_bus(environment_of(settings), connection=connection)
        asyncio.run(_send(bus, queue, message))
    except SettingsError as error:
        give_up(ExitCode.SETTINGS, str(error), as_json=as_json)
    except SendFailed as failure:
        give_up(ExitCode.UNREACHABLE, str(failure), as_json=as_json)
    sent = {"sent": message_id, "queue": queue}
    say(sent, f"sent {message_id} to {queue}", as_json=as_json)


async def _send(bus: ServiceBusSettings, queue: str, message: OutgoingMessage) -> None:
    async with service_bus(bus) as client:
        await sender.send(client, queue, [message], client_id=bus.client_id)


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
