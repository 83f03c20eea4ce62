"""An embedded Azure Service Bus (AMQP 1.0).

A frame comes in through `amqp` (connection, session, link), which knows nothing of Service Bus.
`namespace` leads each link to one of the `nodes`: `queues` and `sessions` to send and receive,
`management` and `cbs` to ask and be answered. What they do to an entity passes the `gate`, where
faults strike.

What becomes of a message is decided in `broker`, without input, output or clock: `intake` takes
in what is sent, `queue` gives it out and settles it, `session_queue` does so by session, `topic`
hands it on by its `rules`. `entities` is all of them, `config` and `administration` bring them
about.
"""

from __future__ import annotations

from local_azure.servicebus.amqp.connection import IdleRules
from local_azure.servicebus.broker.properties import (
    QueueProperties,
    SubscriptionProperties,
    TopicProperties,
)
from local_azure.servicebus.broker.rule_sql.action import Action
from local_azure.servicebus.broker.rules import (
    CorrelationFilter,
    FalseFilter,
    Rule,
    SqlFilter,
    TrueFilter,
)
from local_azure.servicebus.config import Config, ConfigError
from local_azure.servicebus.server import LocalServiceBus

__all__ = [
    "Action",
    "Config",
    "ConfigError",
    "CorrelationFilter",
    "FalseFilter",
    "IdleRules",
    "LocalServiceBus",
    "QueueProperties",
    "Rule",
    "SqlFilter",
    "SubscriptionProperties",
    "TopicProperties",
    "TrueFilter",
]
