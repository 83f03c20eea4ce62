"""Microsoft's ``Config.json``: the entities, as the official emulator reads them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from local_azure.servicebus import config_tables as tables
from local_azure.servicebus.properties import (
    QueueProperties,
    SubscriptionProperties,
    TopicProperties,
)
from local_azure.servicebus.rules import DEFAULT_RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_T = TypeVar("_T")
ENTITY_NAME = re.compile(r"[A-Za-z0-9](?:[\w./~-]{0,258}[A-Za-z0-9])?", re.ASCII)
PART_NAME = re.compile(r"[A-Za-z0-9_$](?:[\w.-]{0,48}\w)?", re.ASCII)


class ConfigError(ValueError):
    """The configuration cannot be used; the text lists everything that is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The entities of a namespace."""

    queues: Mapping[str, QueueProperties] = field(default_factory=dict)
    topics: Mapping[str, TopicProperties] = field(default_factory=dict)

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
        except (ValueError, RecursionError) as error:
            raise ConfigError([f"not JSON: {error}"]) from error
        reader = _Reader()
        namespace = reader.namespace(document)
        config = cls(queues=reader.queues(namespace), topics=reader.topics(namespace))
        reader.check(config)
        if reader.problems:
            raise ConfigError(reader.problems)
        return config


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
        return self._object(namespaces[0], "UserConfig.Namespaces[0]")

    def queues(self, namespace: dict[str, object]) -> dict[str, QueueProperties]:
        """The queues by name."""
        return self._named("queue", "Queues", namespace, ENTITY_NAME, self._queue)

    def topics(self, namespace: dict[str, object]) -> dict[str, TopicProperties]:
        """The topics by name."""
        return self._named("topic", "Topics", namespace, ENTITY_NAME, self._topic)

    def check(self, config: Config) -> None:
        """Finds names that are used twice, and forwarding that leads nowhere."""
        names = [name.lower() for name in (*config.queues, *config.topics)]
        both = sorted({name for name in names if names.count(name) > 1})
        self.problems += [f"{name!r} is both a queue and a topic" for name in both]
        for where, properties in _queues_in(config):
            for name in (properties.forward_to, properties.forward_dead_lettered_messages_to):
                if name and name.lower() not in names:
                    self.problems.append(
                        f"{where}: it cannot forward to {name!r}, which is not there"
                    )

    # ------------------------------------------------------------ entities

    def _queue(self, where: str, entry: dict[str, object]) -> QueueProperties:
        return QueueProperties(**self._properties(where, entry, tables.QUEUE))

    def _topic(self, where: str, entry: dict[str, object]) -> TopicProperties:
        subscriptions = self._named(
            f"{where}: subscription", "Subscriptions", entry, PART_NAME, self._subscription
        )
        properties = self._properties(where, entry, tables.TOPIC)
        return TopicProperties(subscriptions=subscriptions, **properties)

    def _subscription(self, where: str, entry: dict[str, object]) -> SubscriptionProperties:
        rules = self._named(f"{where}: rule", "Rules", entry, PART_NAME, self._rule)
        properties = self._properties(where, entry, tables.SUBSCRIPTION)
        return SubscriptionProperties(rules=rules or DEFAULT_RULES, **properties)

    def _rule(self, where: str, entry: dict[str, object]) -> Rule:
        properties = self._object(entry.get("Properties", {}), f"{where}: Properties")
        try:
            return tables.rule(properties)
        except ValueError as error:
            self.problems.append(f"{where}: {error}")
            return Rule()

    def _named(
        self,
        kind: str,
        key: str,
        owner: dict[str, object],
        names: re.Pattern[str],
        read: Callable[[str, dict[str, object]], _T],
    ) -> dict[str, _T]:
        """The entries of a list by their names, which must be sound and different."""
        found: dict[str, _T] = {}
        for index, value in enumerate(self._array(owner.get(key) or [], key)):
            entry = self._object(value, f"{key}[{index}]")
            name = entry.get("Name")
            if not isinstance(name, str) or not names.fullmatch(name):
                self.problems.append(f"{key}[{index}].Name: {name!r} is no name of a {kind}")
            elif name.lower() in map(str.lower, found):
                self.problems.append(f"{kind} {name!r} is there twice")
            else:
                found[name] = read(f"{kind} {name!r}", entry)
        return found

    def _properties(
        self, where: str, entry: dict[str, object], table: tables.Table
    ) -> dict[str, Any]:
        listed = self._object(entry.get("Properties", {}), f"{where}: Properties")
        read: dict[str, Any] = {}
        for name, value in listed.items():
            if name not in table:
                self.problems.append(f"{where}: {name}: no such property")
                continue
            its_field, parse = table[name]
            try:
                read[its_field] = parse(value)
            except ValueError as error:
                self.problems.append(f"{where}: {name}: {error}")
        return read

    # ------------------------------------------------------------ values

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


def _queues_in(config: Config) -> Iterator[tuple[str, QueueProperties]]:
    for name, queue in config.queues.items():
        yield f"queue {name!r}", queue
    for topic, properties in config.topics.items():
        for name, subscription in properties.subscriptions.items():
            yield f"topic {topic!r}: subscription {name!r}", subscription
