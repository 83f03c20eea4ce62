"""What the host hands over: messages as its metadata makes them, and contexts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from azure.functions.meta import Datum
from azure.functions.servicebus import ServiceBusMessageInConverter

if TYPE_CHECKING:
    import azure.functions as func

TRACE = "0af7651916cd43dd8448eb211c80319c"
LOCK_TOKEN = "2a3e1bd1-6b0e-4a6c-9d20-0b6a9f7ad0a7"
METADATA = {
    "MessageId": Datum("ord-1001", "string"),
    "LockToken": Datum(LOCK_TOKEN, "string"),
    "DeliveryCount": Datum("1", "json"),
    "SequenceNumber": Datum("7", "json"),
    "EnqueuedTimeUtc": Datum('"2026-01-01T12:00:00.123Z"', "json"),
    "Subject": Datum("order-placed", "string"),
    "ContentType": Datum("application/json", "string"),
    "CorrelationId": Datum("corr-1", "string"),
    "SessionId": Datum("session-1", "string"),
    "ApplicationProperties": Datum('{"tenant":"eu"}', "json"),
    "UserProperties": Datum('{"tenant":"eu"}', "json"),
}


def message(body: object, **metadata: Datum | None) -> func.ServiceBusMessage:
    """A message by the worker's own decoder; metadata of `None` is not sent."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {name: value for name, value in (METADATA | metadata).items() if value is not None}
    decoded: Any = ServiceBusMessageInConverter.decode(Datum(raw, "bytes"), trigger_metadata=sent)
    return cast("func.ServiceBusMessage", decoded)


@dataclass
class _TraceContext:
    trace_parent: str = f"00-{TRACE}-b7ad6b7169203331-01"
    trace_state: str = ""


@dataclass
class _Context:
    trace_context: _TraceContext = field(default_factory=_TraceContext)


def context(trace_parent: str = _TraceContext.trace_parent) -> func.Context:
    """The context of an invocation, as far as it is looked at."""
    return cast("func.Context", _Context(_TraceContext(trace_parent)))
