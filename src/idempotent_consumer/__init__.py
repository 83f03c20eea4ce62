"""Azure Service Bus messages take effect once, as documents in Azure Cosmos DB."""

from __future__ import annotations

from idempotent_consumer.core.consumer import Consumer, Container
from idempotent_consumer.core.delivery import Message
from idempotent_consumer.core.entity import Entity
from idempotent_consumer.core.keys import BodyField, MessageId, Property
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.request_hash import Selection
from idempotent_consumer.core.writes import Create, Writes

__all__ = [
    "BodyField",
    "Consumer",
    "Container",
    "Create",
    "Entity",
    "Message",
    "MessageId",
    "Property",
    "Reason",
    "Rejected",
    "Selection",
    "Writes",
]
