"""An embedded Azure Service Bus (AMQP 1.0).

A frame comes in through `amqp` (connection, session, link), which knows nothing of Service Bus.
`namespace` leads each link to a node: `queue_links` to send and receive, `management` and `cbs`
to ask and be answered. What they do to a queue passes the `gate`, where faults strike, and
`queue` decides what becomes of the message, without input or output.
"""

from __future__ import annotations

from local_azure.servicebus.config import Config, ConfigError
from local_azure.servicebus.properties import QueueProperties
from local_azure.servicebus.server import LocalServiceBus

__all__ = ["Config", "ConfigError", "LocalServiceBus", "QueueProperties"]
