"""Microsoft's ``Config.json``: the entities, as the official emulator reads them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.properties import QueueProperties

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_DURATION = re.compile(
    r"P(?=[\dT])(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_QUEUE_NAME = re.compile(r"[A-Za-z0-9](?:[\w./~-]{0,258}[A-Za-z0-9])?", re.ASCII)


class ConfigError(ValueError):
    """The configuration cannot be used; the text lists everything that is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def parse_duration(text: object) -> timedelta:
    """An ISO 8601 duration of days, hours, minutes and seconds.

    Raises:
        ValueError: It is none.
    """
    parsed = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if parsed is None:
        raise ValueError(f"{text!r} is no ISO 8601 duration")
    return timedelta(**{unit: float(n) for unit, n in parsed.groupdict().items() if n})


def _duration(shortest: str, longest: str) -> Callable[[object], timedelta]:
    low, high = parse_duration(shortest), parse_duration(longest)

    def read(value: object) -> timedelta:
        duration = parse_duration(value)
        if not low <= duration <= high:
            raise ValueError(f"{value} is not within {shortest} to {longest}")
        return duration

    return read


def _count(value: object) -> int:
    if type(value) is not int or not 1 <= value <= 10:
        raise ValueError(f"{value!r} is not within 1 to 10")
    return value


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return value


_PROPERTIES: dict[str, tuple[str, Callable[[object], Any]]] = {
    "LockDuration": ("lock_duration", _duration("PT5S", "PT5M")),
    "MaxDeliveryCount": ("max_delivery_count", _count),
    "DefaultMessageTimeToLive": ("default_message_time_to_live", _duration("PT5M", "PT1H")),
    "DeadLetteringOnMessageExpiration": ("dead_lettering_on_message_expiration", _flag),
    "RequiresDuplicateDetection": ("requires_duplicate_detection", _flag),
    "DuplicateDetectionHistoryTimeWindow": (
        "duplicate_detection_history_time_window",
        _duration("PT5S", "PT5M"),
    ),
}
_NOT_SUPPORTED_YET = ("RequiresSession", "ForwardTo", "ForwardDeadLetteredMessagesTo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The entities of a namespace."""

    queues: Mapping[str, QueueProperties]

    @classmethod
    def load(cls, path: Path) -> Config:
        """Reads a ``Config.json``.

        Raises:
            ConfigError: It is not one, or asks for what this emulator does not do.
        """
        return cls.parse(path.read_text(encoding="utf-8-sig"))

    @classmethod
    def parse(cls, text: str) -> Config:
        """Reads the text of a ``Config.json``; raises as `load` does."""
        try:
            document = json.loads(text)
        except ValueError as error:
            raise ConfigError([f"not JSON: {error}"]) from error
        reader = _Reader()
        queues = reader.queues(reader.namespace(document))
        if reader.problems:
            raise ConfigError(reader.problems)
        return cls(queues=queues)


class _Reader:
    """Reads on past every problem, so that all of them are told at once."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def namespace(self, document: object) -> dict[str, object]:
        """The one namespace."""
        config = self._object(document, "the document").get("UserConfig")
        listed = self._object(config, "UserConfig").get("Namespaces")
        namespaces = self._array(listed, "UserConfig.Namespaces")
        if len(namespaces) != 1:
            self.problems.append(f"UserConfig.Namespaces has {len(namespaces)} entries, not one")
            return {}
        namespace = self._object(namespaces[0], "UserConfig.Namespaces[0]")
        if namespace.get("Topics"):
            self.problems.append("Topics are not supported yet")
        return namespace

    def queues(self, namespace: dict[str, object]) -> dict[str, QueueProperties]:
        """The queues by name."""
        queues: dict[str, QueueProperties] = {}
        for index, entry in enumerate(self._array(namespace.get("Queues", []), "Queues")):
            queue = self._object(entry, f"Queues[{index}]")
            name = queue.get("Name")
            if not isinstance(name, str) or not _QUEUE_NAME.fullmatch(name):
                self.problems.append(f"Queues[{index}].Name: {name!r} is no queue name")
            elif name.lower() in map(str.lower, queues):
                self.problems.append(f"queue {name!r} is there twice")
            else:
                queues[name] = self._properties(name, queue.get("Properties", {}))
        return queues

    def _properties(self, queue: str, listed: object) -> QueueProperties:
        read: dict[str, Any] = {}
        for name, value in self._object(listed, f"queue {queue!r}: Properties").items():
            try:
                read |= self._property(name, value)
            except ValueError as error:
                self.problems.append(f"queue {queue!r}: {name}: {error}")
        return QueueProperties(**read)

    def _property(self, name: str, value: object) -> dict[str, Any]:
        if name in _NOT_SUPPORTED_YET:
            if value:
                raise ValueError("not supported yet")
            return {}
        if name not in _PROPERTIES:
            raise ValueError("no such property")
        field, read = _PROPERTIES[name]
        return {field: read(value)}

    def _object(self, value: object, where: str) -> dict[str, object]:
        if isinstance(value, dict):
            return value
        self.problems.append(f"{where} is not an object")
        return {}

    def _array(self, value: object, where: str) -> list[object]:
        if isinstance(value, list):
            return value
        self.problems.append(f"{where} is not an array")
        return []
