"""The entities as descriptions: looked at, created, changed, deleted and listed."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from local_azure.servicebus.administration import descriptions, rules
from local_azure.servicebus.administration.atom import Entry, tag_of
from local_azure.servicebus.administration.descriptions import (
    QUEUE,
    SUBSCRIPTION,
    TOPIC,
    Kind,
    Record,
)
from local_azure.servicebus.broker.entities import already_exists, not_found
from local_azure.servicebus.broker.forwarding import check_forwarding
from local_azure.servicebus.broker.names import (
    check_entity_name,
    check_rule_name,
    check_subscription_name,
)
from local_azure.servicebus.broker.properties import (
    EntityProperties,
    QueueProperties,
    SubscriptionProperties,
    TopicProperties,
)
from local_azure.servicebus.nodes.management.body import argument_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from weakref import WeakKeyDictionary

    from local_azure.servicebus.administration.atom import Element
    from local_azure.servicebus.broker.entities import Entities
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.broker.topic import Subscription, Topic
    from local_azure.servicebus.nodes.content import WireContent

_PLACE = re.compile(
    r"(?P<entity>.+?)(?:/subscriptions/(?P<subscription>[^/]+)(?:/rules/(?P<rule>[^/]+))?)?",
    re.IGNORECASE,
)
_P = TypeVar("_P", bound=EntityProperties)
_IMMUTABLE = ("requires_session", "requires_duplicate_detection")


@dataclass(frozen=True, slots=True)
class Place:
    """What a path names: a queue or topic, a subscription, or a rule."""

    entity: str
    subscription: str | None = None
    rule: str | None = None

    @classmethod
    def of(cls, path: str) -> Place:
        """Reads a path."""
        found = _PLACE.fullmatch(path)
        if found is None:
            raise not_found(path)
        return cls(**found.groupdict())

    def check_names(self) -> None:
        """Refuses names that nothing can have."""
        with _as_argument_errors():
            check_entity_name(self.entity)
            if self.subscription is not None:
                check_subscription_name(self.subscription)
            if self.rule is not None:
                check_rule_name(self.rule)


class Catalogue:
    """Describes the entities of a namespace.

    Args:
        entities: The entities.
        base_url: The address that their paths are added to.
    """

    def __init__(
        self,
        entities: Entities[WireContent],
        records: WeakKeyDictionary[object, Record],
        base_url: str,
    ) -> None:
        self._entities = entities
        self._records = records
        self._base_url = base_url

    # ------------------------------------------------------------ looking

    def get(self, place: Place) -> Entry:
        """The description of what is there; raises ``amqp:not-found``."""
        match place:
            case Place(entity, str(subscription), str(rule)):
                return self._rule(self._entities.subscription(entity, subscription), rule)
            case Place(entity, str(subscription)):
                return self._subscription(self._entities.subscription(entity, subscription))
            case Place(entity):
                queue = self._entities.queues.get(entity.lower())
                if queue is not None:
                    return self._queue(queue)
                return self._topic(self._entities.topic(entity))

    def queues(self) -> Iterable[Entry]:
        """All queues."""
        return map(self._queue, self._entities.queues.values())

    def topics(self) -> Iterable[Entry]:
        """All topics."""
        return map(self._topic, self._entities.topics.values())

    def subscriptions(self, topic: str) -> Iterable[Entry]:
        """The subscriptions of a topic."""
        return map(self._subscription, self._entities.topic(topic).subscriptions.values())

    def rules(self, topic: str, name: str) -> Iterable[Entry]:
        """The rules of a subscription."""
        subscription = self._entities.subscription(topic, name)
        return (self._rule(subscription, rule) for rule in subscription.rules)

    def _queue(self, queue: Queue[WireContent]) -> Entry:
        counts = descriptions.queue_counts(queue)
        record = self._record(queue)
        described = descriptions.write(QUEUE, queue.properties, record, *counts)
        return self._entry(queue.name, queue.name, record, described)

    def _topic(self, topic: Topic[WireContent]) -> Entry:
        counts = descriptions.topic_counts(topic)
        record = self._record(topic)
        described = descriptions.write(TOPIC, topic.properties, record, *counts)
        return self._entry(topic.name, topic.name, record, described)

    def _subscription(self, subscription: Subscription[WireContent]) -> Entry:
        counts = descriptions.queue_counts(subscription.queue)
        record = self._record(subscription)
        described = descriptions.write(SUBSCRIPTION, subscription.properties, record, *counts)
        return self._entry(subscription.name, subscription.queue.name, record, described)

    def _rule(self, subscription: Subscription[WireContent], name: str) -> Entry:
        if name not in subscription.rules:
            raise not_found(name)
        record = self._record(subscription)
        described = rules.write(name, subscription.rules[name], record.created_at)
        return self._entry(name, f"{subscription.queue.name}/Rules/{name}", record, described)

    def _entry(self, title: str, path: str, record: Record, described: Element) -> Entry:
        return Entry(
            title=title,
            url=f"{self._base_url}/{path}",
            created_at=record.created_at,
            updated_at=record.updated_at,
            description=described,
        )

    def _record(self, entity: object) -> Record:
        return self._records.setdefault(entity, Record())

    # ------------------------------------------------------------ changing

    def create(self, place: Place, described: Element) -> None:
        """Creates what is described; raises `AmqpError` if it is there or cannot be."""
        place.check_names()
        match place:
            case Place(entity, str(subscription), str(rule)):
                owner = self._entities.subscription(entity, subscription)
                if rule in owner.rules:
                    raise already_exists(rule)
                owner.rules[rule] = rules.read(described)
            case Place(entity, str(subscription)):
                properties, shown = self._new(
                    SUBSCRIPTION, SubscriptionProperties, entity, described
                )
                properties = replace(properties, rules=rules.default_rules(described))
                self._entities.create_subscription(entity, subscription, properties)
                self._record(self._entities.subscription(entity, subscription)).shown = shown
            case Place(entity) if tag_of(described) == TOPIC.tag:
                its, shown = self._new(TOPIC, TopicProperties, entity, described)
                self._entities.create_topic(entity, its)
                self._record(self._entities.topic(entity)).shown = shown
            case Place(entity):
                queue, shown = self._new(QUEUE, QueueProperties, entity, described)
                self._entities.create_queue(entity, queue)
                self._record(self._entities.queues[entity.lower()]).shown = shown

    def update(self, place: Place, described: Element) -> None:
        """Changes what is there; raises `AmqpError` if it is not there or cannot be changed so."""
        match place:
            case Place(entity, str(subscription), str(rule)):
                owner = self._entities.subscription(entity, subscription)
                self._rule(owner, rule)
                owner.rules[rule] = rules.read(described)
            case Place(entity, str(subscription)):
                owner = self._entities.subscription(entity, subscription)
                owner.properties = self._changed(
                    SUBSCRIPTION, owner, owner.properties, entity, described
                )
                self._entities.apply(owner.queue, owner.properties)
            case Place(entity) if entity.lower() in self._entities.queues:
                queue = self._entities.queues[entity.lower()]
                changed = self._changed(QUEUE, queue, queue.properties, entity, described)
                self._entities.apply(queue, changed)
            case Place(entity):
                topic = self._entities.topic(entity)
                topic.properties = self._changed(TOPIC, topic, topic.properties, entity, described)

    def delete(self, place: Place) -> None:
        """Deletes what is there; raises ``amqp:not-found``."""
        match place:
            case Place(entity, str(subscription), str(rule)):
                owner = self._entities.subscription(entity, subscription)
                self._rule(owner, rule)
                del owner.rules[rule]
            case Place(entity, str(subscription)):
                self._entities.delete_subscription(entity, subscription)
            case Place(entity):
                self._entities.delete(entity)

    def _new(
        self, kind: Kind, make: Callable[..., _P], entity: str, described: Element
    ) -> tuple[_P, dict[str, str]]:
        given, shown = descriptions.read(kind, described)
        with _as_argument_errors():
            properties = make(**{**kind.defaults, **given})
            self._check_forwarding(entity, properties)
        return properties, shown

    def _changed(
        self, kind: Kind, owner: object, before: _P, entity: str, described: Element
    ) -> _P:
        given, shown = descriptions.read(kind, described, before)
        with _as_argument_errors():
            after = replace(before, **given)
            self._check_forwarding(entity, after)
        for name in _IMMUTABLE:
            if getattr(before, name, None) != getattr(after, name, None):
                raise argument_error(f"{name} cannot be changed.")
        record = self._record(owner)
        record.shown, record.updated_at = record.shown | shown, datetime.now(UTC)
        return after

    def _check_forwarding(self, entity: str, properties: EntityProperties) -> None:
        if isinstance(properties, QueueProperties):
            check_forwarding(entity, properties, lambda key: self._entities.target(key) is not None)


@contextmanager
def _as_argument_errors() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise argument_error(f"{error}.") from error
