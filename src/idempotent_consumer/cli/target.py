"""Which consumer is meant: ``module:name``, or what the project's own file says."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from pathlib import Path

from idempotent_consumer.core.consumer import Consumer

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
    try:
        consumer = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise NoConsumer(f"there is no module {error.name!r}, looking for {target!r}") from None
    except AttributeError:
        raise NoConsumer(f"module {module!r} has no {name!r}") from None
    if not isinstance(consumer, Consumer):
        raise NoConsumer(f"{target!r} is no Consumer")
    return consumer


def _of_project() -> str:
    if PROJECT.is_file():
        tools = tomllib.loads(PROJECT.read_text("utf-8")).get("tool", {})
        if app := tools.get(TABLE, {}).get("app"):
            return str(app)
    raise NoConsumer(
        f"which consumer? Say --app module:name, or app = 'module:name' in [tool.{TABLE}] "
        f"of {PROJECT}"
    )
