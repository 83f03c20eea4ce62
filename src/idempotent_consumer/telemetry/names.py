"""Every name under which something leaves this library: queries and dashboards rely on them.

The words of log fields and metric attributes are the same, and mean the same. On spans they
stand behind a prefix, beside the names of OpenTelemetry's messaging conventions.
"""

from __future__ import annotations

LOGGER = "idempotent_consumer"
SCOPE = "idempotent_consumer"
"""The instrumentation scope of metrics and spans."""

# Metrics
MESSAGES = "idempotent_consumer.messages"
"""Counts deliveries, by outcome, cause, consumer and entity."""
DURATION = "idempotent_consumer.processing.duration"
"""Seconds from receipt to settlement, by outcome, consumer and entity."""
DUPLICATE_AGE = "idempotent_consumer.duplicate.age"
"""Seconds from the commit of a marker to a duplicate's receipt, by cause, consumer and entity."""

# Attributes of metrics, fields of log lines
CONSUMER = "consumer"
ENTITY = "entity"
OUTCOME = "outcome"
CAUSE = "cause"

# Fields of log lines alone; an event other than `Handled` adds the names of its own fields
KEY = "key"
MESSAGE_ID = "message_id"
CORRELATION_ID = "correlation_id"
DELIVERY_COUNT = "delivery_count"
SEQUENCE_NUMBER = "sequence_number"
DESCRIPTION = "description"
SETTLEMENT = "settlement"
REASON = "reason"
SETTLED = "settled"
SECONDS = "seconds"

# What the log lines say
HANDLED = "message handled"
CIRCUIT_OPENED = "circuit opened"
CIRCUIT_CLOSED = "circuit closed"
QUEUE_AVAILABLE = "receiving from queue"
QUEUE_UNAVAILABLE = "queue unavailable"
LOCK_NOT_RENEWED = "lock not renewed"
HANDLING_BROKE = "handling broke"
WORKER_STOPPED = "worker stopped"

# Attributes of spans
SPAN_PREFIX = "idempotent_consumer."
MESSAGING_SYSTEM = "messaging.system"
MESSAGING_OPERATION = "messaging.operation.name"
MESSAGING_OPERATION_TYPE = "messaging.operation.type"
MESSAGING_DESTINATION = "messaging.destination.name"
MESSAGING_MESSAGE_ID = "messaging.message.id"
MESSAGING_CONVERSATION_ID = "messaging.message.conversation_id"
MESSAGING_DELIVERY_COUNT = "messaging.servicebus.message.delivery_count"
MESSAGING_ENQUEUED_TIME = "messaging.servicebus.message.enqueued_time"
ERROR_TYPE = "error.type"
