"""The options that commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from idempotent_consumer.settings import load_local_settings

if TYPE_CHECKING:
    from collections.abc import Mapping


def _named(value: str) -> str:
    if not value.strip():
        raise typer.BadParameter("it is blank")
    return value


Queue = Annotated[str, typer.Option("--queue", callback=_named, help="The queue's name.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--app",
        help="The consumer, as module:name; by default the app that "
        "pyproject.toml names under tool.idempotent-consumer.",
    ),
]
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


def environment_of(settings: Path | None) -> Mapping[str, str]:
    """The settings: the environment's, and below them those of the file.

    Raises:
        SettingsError: The file is none.
    """
    return os.environ if settings is None else load_local_settings(settings, os.environ)
