"""A message as the host's Service Bus extension hands it to the worker."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tests.hosts.functions.protocol import rpc

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "message"
"""The parameter to which the trigger binds."""


@dataclass(frozen=True, kw_only=True)
class HostMessage:
    """A delivery in the host's hands."""

    body: bytes
    message_id: str | None
    lock_token: str = field(default_factory=lambda: str(uuid4()))
    delivery_count: int = 1
    sequence_number: int = 1
    enqueued_time: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    subject: str | None = None
    content_type: str | None = None
    correlation_id: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)

    def input(self) -> Any:
        """The body, bound as bytes; an empty one is not sent."""
        return rpc.ParameterBinding(
            name=NAME, data=rpc.TypedData(bytes=self.body) if self.body else rpc.TypedData()
        )

    def metadata(self) -> dict[str, Any]:
        """Text goes as text, all else as JSON, and what is null not at all."""
        properties = dict(self.properties)
        enqueued = self.enqueued_time.isoformat().replace("+00:00", "Z")
        values = {
            "MessageId": self.message_id,
            "LockToken": self.lock_token,
            "DeliveryCount": self.delivery_count,
            "SequenceNumber": self.sequence_number,
            "EnqueuedTimeUtc": enqueued,
            "EnqueuedTime": enqueued,
            "Subject": self.subject,
            "Label": self.subject,
            "ContentType": self.content_type,
            "CorrelationId": self.correlation_id,
            "ApplicationProperties": properties,
            "UserProperties": properties,
        }
        return {name: _typed(value) for name, value in values.items() if value is not None}


def _typed(value: object) -> Any:
    if isinstance(value, str):
        return rpc.TypedData(string=value)
    return rpc.TypedData(json=json.dumps(value))
