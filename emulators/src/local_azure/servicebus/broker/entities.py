"""The entities of a namespace: they come, change, go and are found by their paths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.address import Address
from local_azure.servicebus.broker.limits import MAX_HOPS, check_status
from local_azure.servicebus.broker.message import C, Message
from local_azure.servicebus.broker.queue import Queue
from local_azure.servicebus.broker.session_queue import SessionQueue
from local_azure.servicebus.broker.topic import Subscription, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from local_azure.events import EventLog
    from local_azure.servicebus.broker.intake import Intake
    from local_azure.servicebus.broker.properties import (
        QueueProperties,
        SubscriptionProperties,
        TopicProperties,
    )

DEAD_LETTERS = "/$DeadLetterQueue"
TRANSFER_DEAD_LETTERS = "/$Transfer/$DeadLetterQueue"
_SUBSCRIPTIONS = "/Subscriptions/"


class Entities(Generic[C]):
    """Queues, topics and subscriptions; case does not matter in names.

    Attributes:
        queues: The queues by name in lower case.
        topics: The topics likewise.
        on_due: Told of times at which something will have to happen in an entity.
        on_deleted: Told of entities that are no more.
    """

    def __init__(self, events: EventLog) -> None:
        self.queues: dict[str, Queue[C]] = {}
        self.topics: dict[str, Topic[C]] = {}
        self.on_due: Callable[[float], None] = lambda moment: None
        self.on_deleted: Callable[[Intake[C]], None] = lambda entity: None
        self._events = events
        self._sources: dict[str, Queue[C]] = {}

    # ------------------------------------------------------------ finding

    def __iter__(self) -> Iterator[Intake[C]]:
        """Everything in which time makes things happen."""
        yield from tuple(self._sources.values())
        yield from tuple(self.topics.values())

    def source(self, path: str) -> Queue[C] | None:
        """What can be received from: a queue, a subscription or dead letters."""
        return self._sources.get(path.lower())

    def target(self, path: str) -> Intake[C] | None:
        """What can be sent to: a queue or a topic."""
        return self.queues.get(path.lower()) or self.topics.get(path.lower())

    def topic(self, name: str) -> Topic[C]:
        """A topic; raises ``amqp:not-found``."""
        topic = self.topics.get(name.lower())
        if topic is None:
            raise not_found(name)
        return topic

    def subscription(self, topic: str, name: str) -> Subscription[C]:
        """A subscription; raises ``amqp:not-found``."""
        subscription = self.topic(topic).subscriptions.get(name.lower())
        if subscription is None:
            raise not_found(topic + _SUBSCRIPTIONS + name)
        return subscription

    def subscription_of(self, queue: Intake[C]) -> Subscription[C] | None:
        """The subscription whose messages are in a queue."""
        found = (
            subscription
            for topic in self.topics.values()
            for subscription in topic.subscriptions.values()
            if subscription.queue is queue
        )
        return next(found, None)

    # ------------------------------------------------------------ creating

    def create_queue(self, name: str, properties: QueueProperties) -> None:
        """Adds a queue; raises ``com.microsoft:entity-already-exists``."""
        self._refuse_existing(name)
        self.queues[name.lower()] = self._queue(name, properties)

    def create_topic(self, name: str, properties: TopicProperties) -> None:
        """Adds a topic with its subscriptions; raises as `create_queue` does."""
        self._refuse_existing(name)
        topic: Topic[C] = Topic(name, properties, self._events)
        topic.on_due = self._due
        self.topics[name.lower()] = topic
        for subscription, its in properties.subscriptions.items():
            self.create_subscription(name, subscription, its)

    def create_subscription(
        self, topic: str, name: str, properties: SubscriptionProperties
    ) -> None:
        """Adds a subscription; raises as `topic` and `create_queue` do."""
        its_topic = self.topic(topic)
        if name.lower() in its_topic.subscriptions:
            raise already_exists(name)
        queue = self._queue(its_topic.name + _SUBSCRIPTIONS + name, properties)
        its_topic.subscriptions[name.lower()] = Subscription(name, queue, properties)

    def _refuse_existing(self, name: str) -> None:
        if self.target(name) is not None:
            raise already_exists(name)

    def _queue(self, name: str, properties: QueueProperties) -> Queue[C]:
        buried: Queue[C] = Queue(name + DEAD_LETTERS, properties, self._events)
        transfer: Queue[C] = Queue(name + TRANSFER_DEAD_LETTERS, properties, self._events)
        kind = SessionQueue if properties.requires_session else Queue
        queue: Queue[C] = kind(name, properties, self._events, buried, transfer)
        for each in (queue, buried, transfer):
            each.on_due = self._due
            self._sources[each.name.lower()] = each
        self.apply(queue, properties)
        return queue

    def apply(self, queue: Queue[C], properties: QueueProperties) -> None:
        """Gives a queue other properties."""
        for each in (queue, *queue.sub_queues):
            each.properties = properties
        queue.outlet = self._outlet(properties.forward_to)
        if queue.dead_letters is not None:
            queue.dead_letters.outlet = self._outlet(properties.forward_dead_lettered_messages_to)

    def _outlet(self, name: str | None) -> _Forwarding[C] | None:
        return _Forwarding(self, Address.parse(name).key) if name else None

    def _due(self, moment: float) -> None:
        self.on_due(moment)

    # ------------------------------------------------------------ deleting

    def delete(self, name: str) -> None:
        """Removes a queue, or a topic and its subscriptions; raises ``amqp:not-found``."""
        queue = self.queues.pop(name.lower(), None)
        if queue is not None:
            self._forget(queue)
            return
        topic = self.topic(name)
        for subscription in list(topic.subscriptions.values()):
            self.delete_subscription(name, subscription.name)
        del self.topics[name.lower()]
        self.on_deleted(topic)

    def delete_subscription(self, topic: str, name: str) -> None:
        """Removes a subscription; raises ``amqp:not-found``."""
        self._forget(self.subscription(topic, name).queue)
        del self.topic(topic).subscriptions[name.lower()]

    def _forget(self, queue: Queue[C]) -> None:
        for each in (queue, *queue.sub_queues):
            del self._sources[each.name.lower()]
            self.on_deleted(each)


class _Forwarding(Generic[C]):
    """Sends a queue's messages on to another entity, as long as that is there."""

    def __init__(self, entities: Entities[C], path: str) -> None:
        self._entities = entities
        self._path = path

    def deliver(self, message: Message[C], now: float) -> None:
        if message.hops >= MAX_HOPS:
            text = f"A message cannot be forwarded more than {MAX_HOPS} times."
            raise AmqpError("MaxTransferHopCountExceeded", text)
        target = self._entities.target(self._path)
        if target is None:
            raise not_found(self._path)
        check_status(target.name, target.properties.status, "SendDisabled")
        target.take_over(replace(message, hops=message.hops + 1), now)


def not_found(path: str) -> AmqpError:
    """The refusal of what is meant for an entity that is not there."""
    return AmqpError(
        "amqp:not-found",
        f"The messaging entity '{path}' could not be found. To know more visit "
        "https://aka.ms/sbResourceMgrExceptions.",
    )


def already_exists(name: str) -> AmqpError:
    """The refusal to create what is there."""
    return AmqpError(
        "com.microsoft:entity-already-exists", f"The messaging entity '{name}' already exists."
    )
