"""Topics and their subscriptions. No I/O, no clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.fields import Changes
from local_azure.servicebus.broker.intake import Intake
from local_azure.servicebus.broker.message import C, Message
from local_azure.servicebus.broker.rule_sql.values import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local_azure.events import EventLog
    from local_azure.servicebus.broker.properties import SubscriptionProperties, TopicProperties
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.broker.rules import Rule

RULE_NAME = "RuleName"
"""The property that names the rule whose action made a copy."""


class Subscription(Generic[C]):
    """A queue that gets those of a topic's messages that its rules choose.

    Attributes:
        name: Its name among the topic's subscriptions.
        rules: Its rules by name; they may be changed at any time.
    """

    def __init__(self, name: str, queue: Queue[C], properties: SubscriptionProperties) -> None:
        self.name = name
        self.queue = queue
        self.properties = properties
        self.rules: dict[str, Rule] = dict(properties.rules)

    def offer(self, message: Message[C], now: float) -> None:
        """Takes a message, or what the actions of its rules make of it, if a rule chooses it."""
        try:
            copies = list(self._copies(message))
        except (EvaluationError, AmqpError) as error:
            if self.properties.dead_lettering_on_filter_evaluation_exceptions:
                self.queue.take_dead(message, "FilterEvaluationException", str(error), now)
            return
        for copy in copies:
            self.queue.take_copy(copy, now)

    def _copies(self, message: Message[C]) -> Iterator[Message[C]]:
        """One for all rules without an action, and one for each rule with one."""
        fields = message.content.fields
        chosen = {name: rule for name, rule in self.rules.items() if rule.filter.matches(fields)}
        if any(rule.action is None for rule in chosen.values()):
            yield message
        for name, rule in chosen.items():
            if rule.action is not None:
                made = rule.action.changes(fields)
                changes = Changes(system=made.system, user={**made.user, RULE_NAME: name})
                yield replace(message, content=message.content.changed(changes))


class Topic(Intake[C]):
    """Hands each message on to its subscriptions; keeps only what is scheduled.

    Attributes:
        subscriptions: By name in lower case.
    """

    properties: TopicProperties

    def __init__(self, name: str, properties: TopicProperties, events: EventLog) -> None:
        super().__init__(name, properties, events)
        self.subscriptions: dict[str, Subscription[C]] = {}

    def total_size(self) -> int:
        """Bytes of all messages in its subscriptions too."""
        return self.size + sum(each.queue.total_size() for each in self.subscriptions.values())

    def _enqueue(self, message: Message[C], now: float) -> None:
        self._log("sent", now, message.message_id)
        for subscription in self.subscriptions.values():
            subscription.offer(message, now)
