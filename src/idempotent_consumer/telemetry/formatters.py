"""How a log record becomes a line of text, its fields included."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """One JSON object a line, the fields beside time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        shown = {
            "time": _time(record).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            shown["exception"] = self.formatException(record.exc_info)
        return json.dumps(shown, default=str)


class LineFormatter(logging.Formatter):
    """One line for people: time in UTC, level, message and fields."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_time(record):%H:%M:%SZ} {record.levelname:<7} {_told(record)}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def tell_fields(record: logging.LogRecord) -> bool:
    """A filter that lets every record pass, its fields now in its text, where no more is shown."""
    record.msg, record.args = _told(record), None
    return True


_STANDARD_FIELDS = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime"})


def _told(record: logging.LogRecord) -> str:
    """The message, and its fields."""
    fields = "".join(f" {name}={_word(value)}" for name, value in _extra(record).items())
    return record.getMessage() + fields


def _extra(record: logging.LogRecord) -> dict[str, object]:
    """What was logged besides the message."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS}


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _word(value: object) -> str:
    """The value as one word; quoted where it has blanks or what would break the line."""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    is_word = text.isprintable() and not {*text} & {*' "='}
    return text if is_word else json.dumps(text)
