"""The span of a message, by OpenTelemetry's conventions for messaging.

It is current while the message is handled, so that the spans which an SDK makes are its
children. A sender's trace is taken from the message, and nothing else of its properties:
not ``tracestate``, into which a sender may write what it likes.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    INVALID_SPAN_CONTEXT,
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    get_current_span,
    get_tracer,
    set_span_in_context,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.engine.events import Handled
from idempotent_consumer.telemetry import names
from idempotent_consumer.telemetry.shown import present, reason_name, settlement_name, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from opentelemetry.trace import Span, TracerProvider
    from opentelemetry.util.types import AttributeValue

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.servicebus.events import WorkerEvent
    from idempotent_consumer.telemetry.shown import ShowKey

ERRORS = frozenset(
    {
        OutcomeName.MISMATCH,
        OutcomeName.THROTTLED,
        OutcomeName.UNAVAILABLE,
        OutcomeName.MISCONFIGURED,
        OutcomeName.FAILED,
    }
)
"""Outcomes whose span is an error: store or handler failed, or two messages claim one key.

Not of a message that is rejected or waits: that is the consumer doing what it should, as an
HTTP server does that answers with 4xx.
"""

TRACE_PROPERTIES = ("traceparent", "Diagnostic-Id")
"""Where a sender's trace stands; the first that can be read counts."""

_PROPAGATOR = TraceContextTextMapPropagator()


class Spans:
    """Makes one span a message.

    Args:
        entity: The queue's name.
    """

    def __init__(
        self, entity: str, show_key: ShowKey, tracer_provider: TracerProvider | None
    ) -> None:
        self._show_key = show_key
        self._tracer = get_tracer(names.SCOPE, tracer_provider=tracer_provider)
        self._name = f"process {entity}"
        self._always: dict[str, AttributeValue] = {
            names.MESSAGING_SYSTEM: "servicebus",
            names.MESSAGING_OPERATION: "process",
            names.MESSAGING_OPERATION_TYPE: "process",
            names.MESSAGING_DESTINATION: entity,
        }

    @contextmanager
    def handling(self, delivery: Delivery) -> Iterator[None]:
        """Within it the message's span is current."""
        span = self._started(delivery)
        try:
            # An exception is not recorded, for its text may quote the message.
            with use_span(span, record_exception=False, set_status_on_exception=False):
                yield
        except BaseException as error:
            _fail(span, type(error).__name__)
            raise
        finally:
            with suppress(Exception):  # a span processor of the user stops no message
                span.end()

    def record(self, event: Event | WorkerEvent) -> None:
        """Writes a message's outcome on its span, the current one."""
        span = get_current_span()
        if isinstance(event, Handled) and span.is_recording():
            span.set_attributes(self._outcome_attributes(event))
            if event.outcome.name in ERRORS:
                _fail(span, event.outcome.name.value)

    def _started(self, delivery: Delivery) -> Span:
        try:
            parent, links = _parent_and_links(_sender(delivery.properties))
            return self._tracer.start_span(
                self._name,
                parent,
                SpanKind.CONSUMER,
                self._delivery_attributes(delivery),
                links,
            )
        except Exception:  # noqa: BLE001  # nor does a sampler of theirs
            return INVALID_SPAN

    def _delivery_attributes(self, delivery: Delivery) -> dict[str, AttributeValue]:
        enqueued = delivery.enqueued_time
        said: dict[str, AttributeValue | None] = {
            names.MESSAGING_MESSAGE_ID: self._show_key(delivery.message_id),
            names.MESSAGING_CONVERSATION_ID: shortened(delivery.correlation_id),
            names.MESSAGING_DELIVERY_COUNT: delivery.delivery_count,
            names.MESSAGING_ENQUEUED_TIME: None if enqueued is None else int(enqueued.timestamp()),
        }
        return self._always | present(said)

    def _outcome_attributes(self, event: Handled) -> dict[str, AttributeValue]:
        outcome = event.outcome
        said = {
            names.CONSUMER: event.consumer,
            names.KEY: self._show_key(event.key),
            names.OUTCOME: outcome.name.value,
            names.CAUSE: outcome.cause,
            names.SETTLEMENT: settlement_name(event.settlement),
            names.REASON: reason_name(event.settlement),
            names.SETTLED: event.settled.value,
        }
        return {f"{names.SPAN_PREFIX}{name}": value for name, value in present(said).items()}


def _parent_and_links(sender: SpanContext) -> tuple[Context | None, Sequence[Link]]:
    """The host's span is the parent where there is one, else the sender's.

    A context of ``None`` stands for the current one.
    """
    host = get_current_span().get_span_context()
    if not host.is_valid:
        return set_span_in_context(NonRecordingSpan(sender)), ()
    if sender.is_valid and sender.trace_id != host.trace_id:
        return None, (Link(sender),)
    return None, ()


def _sender(properties: Mapping[str, object]) -> SpanContext:
    """The span under which the message was sent, if it says so; else an invalid one."""
    for name in TRACE_PROPERTIES:
        found = _read(properties.get(name))
        if found.is_valid:
            return found
    return INVALID_SPAN_CONTEXT


def _read(traceparent: object) -> SpanContext:
    if not isinstance(traceparent, str):
        return INVALID_SPAN_CONTEXT
    context = _PROPAGATOR.extract({"traceparent": traceparent}, Context())
    return get_current_span(context).get_span_context()


def _fail(span: Span, error: str) -> None:
    span.set_attribute(names.ERROR_TYPE, error)
    span.set_status(StatusCode.ERROR)
