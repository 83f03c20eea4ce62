"""Microsoft's ``Config.json``: the entities, as the official emulator reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from local_azure.servicebus import config_tables as tables
from local_azure.servicebus.broker.forwarding import check_forwarding
from local_azure.servicebus.broker.names import (
    check_entity_name,
    check_rule_name,
    check_subscription_name,
)
from local_azure.servicebus.broker.properties import (
    QueueProperties,
    SubscriptionProperties,
    TopicProperties,
)
from local_azure.servicebus.broker.rules import DEFAULT_RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_T = TypeVar("_T")


class ConfigError(ValueError):
    """The configuration cannot be used; the text lists everything that is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The entities of a namespace.

    Raises:
        ConfigError: A name is none or is there twice, or something cannot forward as it shall.
    """

    queues: Mapping[str, QueueProperties] = field(default_factory=dict)
    topics: Mapping[str, TopicProperties] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses entities that cannot be together."""
        if problems := _problems(self.queues, self.topics):
            raise ConfigError(problems)

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
        queues, topics = reader.queues(namespace), reader.topics(namespace)
        if reader.problems:
            raise ConfigError([*reader.problems, *_problems(queues, topics)])
        return cls(queues=queues, topics=topics)


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
        return self._named("queue", "Queues", namespace, check_entity_name, self._queue)

    def topics(self, namespace: dict[str, object]) -> dict[str, TopicProperties]:
        """The topics by name."""
        return self._named("topic", "Topics", namespace, check_entity_name, self._topic)

    # ------------------------------------------------------------ entities

    def _queue(self, where: str, entry: dict[str, object]) -> QueueProperties:
        return self._made(QueueProperties, where, self._properties(where, entry, tables.QUEUE))

    def _topic(self, where: str, entry: dict[str, object]) -> TopicProperties:
        subscriptions = self._named(
            f"{where}: subscription",
            "Subscriptions",
            entry,
            check_subscription_name,
            self._subscription,
        )
        properties = self._properties(where, entry, tables.TOPIC)
        return TopicProperties(subscriptions=subscriptions, **properties)

    def _subscription(self, where: str, entry: dict[str, object]) -> SubscriptionProperties:
        rules = self._named(f"{where}: rule", "Rules", entry, check_rule_name, self._rule)
        properties = self._properties(where, entry, tables.SUBSCRIPTION)
        properties["rules"] = rules or DEFAULT_RULES
        return self._made(SubscriptionProperties, where, properties)

    def _made(self, kind: Callable[..., _T], where: str, properties: dict[str, Any]) -> _T:
        """The properties together, or without them where they do not go together."""
        try:
            return kind(**properties)
        except ValueError as error:
            self.problems.append(f"{where}: {error}")
            return kind()

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
        check_name: Callable[[object], None],
        read: Callable[[str, dict[str, object]], _T],
    ) -> dict[str, _T]:
        """The entries of a list by their names, which must be sound and different."""
        found: dict[str, _T] = {}
        for index, value in enumerate(self._array(owner.get(key) or [], key)):
            entry = self._object(value, f"{key}[{index}]")
            name = entry.get("Name")
            try:
                check_name(name)
            except ValueError as error:
                self.problems.append(f"{key}[{index}].Name: {error}")
                continue
            name = str(name)
            if name.lower() in map(str.lower, found):
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


def _problems(
    queues: Mapping[str, QueueProperties], topics: Mapping[str, TopicProperties]
) -> list[str]:
    """Names that are none or used twice, and forwarding that leads nowhere."""
    checked = _names_in(queues, topics)
    if problems := [text for check, name in checked if (text := _refusal(check, name))]:
        return problems
    names = [str(name).lower() for name in (*queues, *topics)]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems = [f"{name!r} is the name of several queues or topics" for name in twice]
    for where, path, properties in _queues_in(queues, topics):
        if text := _refusal(check_forwarding, path, properties, names.__contains__):
            problems.append(f"{where}: {text}")
    return problems


def _refusal(check: Callable[..., None], *what: object) -> str | None:
    try:
        check(*what)
    except ValueError as error:
        return str(error)
    return None


def _names_in(
    queues: Mapping[str, QueueProperties], topics: Mapping[str, TopicProperties]
) -> Iterator[tuple[Callable[[object], None], object]]:
    for name in (*queues, *topics):
        yield check_entity_name, name
    for topic in topics.values():
        for subscription, its in topic.subscriptions.items():
            yield check_subscription_name, subscription
            for rule in its.rules:
                yield check_rule_name, rule


def _queues_in(
    queues: Mapping[str, QueueProperties], topics: Mapping[str, TopicProperties]
) -> Iterator[tuple[str, str, QueueProperties]]:
    for name, queue in queues.items():
        yield f"queue {name!r}", name, queue
    for topic, properties in topics.items():
        for name, subscription in properties.subscriptions.items():
            yield f"topic {topic!r}: subscription {name!r}", topic, subscription
