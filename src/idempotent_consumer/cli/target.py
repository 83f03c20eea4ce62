"""Which consumer is meant: ``module:name``, or what the project's own file says."""

from __future__ import annotations

import sys
import tomllib
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from idempotent_consumer.core.consumer import Consumer

if TYPE_CHECKING:
    from types import ModuleType

PROJECT = Path("pyproject.toml")
TABLE = "idempotent-consumer"


class NoConsumer(Exception):
    """There is no such consumer; the text says what was looked for, and where."""


def find_consumer(target: str | None) -> Consumer:
    """The consumer at ``module:name``; left out, at the ``app`` of the project's table.

    The current folder can be imported from, as with ``python -m``.

    Raises:
        NoConsumer: It cannot be found.
    """
    target = target or _of_project()
    module, _, name = target.partition(":")
    if not module or not name:
        raise NoConsumer(f"write the app like 'shop.app:orders', not {target!r}")
    sys.path.insert(0, str(Path.cwd()))
    consumer = getattr(_imported(module, target), name, None)
    if consumer is None:
        raise NoConsumer(f"module {module!r} has no {name!r}")
    if not isinstance(consumer, Consumer):
        raise NoConsumer(f"{target!r} is no Consumer")
    try:
        consumer.check()
    except ValueError as error:
        raise NoConsumer(f"{target!r} cannot be used: {error}") from None
    return consumer


def _imported(module: str, target: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise NoConsumer(f"there is no module {error.name!r}, looking for {target!r}") from None
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        raise NoConsumer(
            f"{target!r} cannot be imported: {error!r} ({line.filename}:{line.lineno})"
        ) from error


def _of_project() -> str:
    if PROJECT.is_file():
        try:
            table = tomllib.loads(PROJECT.read_text("utf-8")).get("tool", {}).get(TABLE, {})
        except tomllib.TOMLDecodeError as error:
            raise NoConsumer(f"{PROJECT} cannot be read: {error}") from None
        if isinstance(table, dict) and (app := table.get("app")):
            return str(app)
    raise NoConsumer(
        f"which consumer? Say --app module:name, or app = 'module:name' in [tool.{TABLE}] "
        f"of {PROJECT}"
    )
