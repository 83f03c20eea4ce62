"""The one place that logs, counts and traces, and the names under which it does.

No line, attribute or span holds anything of a body or of a property's value.
"""

from __future__ import annotations

from idempotent_consumer.telemetry.formatters import JsonFormatter, LineFormatter, tell_fields
from idempotent_consumer.telemetry.log import HANDLED_LEVELS, LINES, Line
from idempotent_consumer.telemetry.names import (
    DUPLICATE_AGE,
    DURATION,
    HANDLED,
    LOGGER,
    MESSAGES,
)
from idempotent_consumer.telemetry.output import log_to, log_warnings
from idempotent_consumer.telemetry.shown import MAX_TEXT
from idempotent_consumer.telemetry.writer import LogTelemetry

__all__ = [
    "DUPLICATE_AGE",
    "DURATION",
    "HANDLED",
    "HANDLED_LEVELS",
    "LINES",
    "LOGGER",
    "MAX_TEXT",
    "MESSAGES",
    "JsonFormatter",
    "Line",
    "LineFormatter",
    "LogTelemetry",
    "log_to",
    "log_warnings",
    "tell_fields",
]
