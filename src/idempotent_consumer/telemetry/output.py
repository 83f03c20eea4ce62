"""Where a process that is this library's own shows its log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from idempotent_consumer.telemetry.names import LOGGER

if TYPE_CHECKING:
    from collections.abc import Iterable


def log_to(handler: logging.Handler, formatter: logging.Formatter, *, level: int) -> None:
    """Sends the log to a handler, and the library's own lines from a level on.

    The SDKs report what they retry by themselves, on every try: our own lines say what matters.
    """
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(LOGGER).setLevel(level)
    for noisy in ("azure", "uamqp"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)


def log_warnings(warnings: Iterable[str]) -> None:
    """Logs what is to be known at the start, although it goes on."""
    for warning in warnings:
        logging.getLogger(LOGGER).warning(warning)
