"""Azure Service Bus messages take effect once, as documents in Azure Cosmos DB."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from idempotent_consumer.core.consumer import Consumer, Container
from idempotent_consumer.core.delivery import Message
from idempotent_consumer.core.entity import Entity
from idempotent_consumer.core.keys import BodyField, CloudEvent, MessageId, Property
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.request_hash import Selection
from idempotent_consumer.core.writes import Create, Writes
from idempotent_consumer.settings import SettingsError

if TYPE_CHECKING:
    from idempotent_consumer.wiring.functions import queue_trigger
    from idempotent_consumer.wiring.worker import Worker

__all__ = [
    "BodyField",
    "CloudEvent",
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
    "SettingsError",
    "Worker",
    "Writes",
    "queue_trigger",
]


_OF_EXTRAS = {
    "Worker": ("idempotent_consumer.wiring.worker", "worker"),
    "queue_trigger": ("idempotent_consumer.wiring.functions", "functions"),
}
"""Where a name is defined, and the extra that brings what it needs."""


def __getattr__(name: str) -> Any:
    """Imports what an extra is needed for only when it is asked for."""
    if name not in _OF_EXTRAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _OF_EXTRAS[name]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"{name} needs {missing.name}: pip install 'idempotent-consumer[{extra}]'",
            name=missing.name,
        ) from missing
