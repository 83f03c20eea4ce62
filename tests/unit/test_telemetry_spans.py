"""One span a message, whatever becomes of it."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Never

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.decide import Complete
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.core.profile import Profile
from idempotent_consumer.core.writes import Create
from idempotent_consumer.engine.circuit import Circuit
from idempotent_consumer.engine.engine import Engine
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.telemetry import DUPLICATE_AGE, LOGGER, LogTelemetry
from idempotent_consumer.testing import MemoryStore, Trouble, VirtualClock
from tests.unit.core.samples import NOON, ORDER, delivery, order_consumer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Span

    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.core.decide import Settlement
    from idempotent_consumer.core.delivery import Delivery, Message
    from idempotent_consumer.core.writes import Writes

CANARY = "canary-5f0e"
TRACE, OTHER_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
SENDER = "00f067aa0ba902b7"
SENT = f"00-{TRACE}-{SENDER}-01"


@dataclass
class Confirming:
    """Confirms every settlement."""

    settlements: list[Settlement] = field(default_factory=list)

    async def settle(self, settlement: Settlement) -> Settled:
        self.settlements.append(settlement)
        return Settled.CONFIRMED


@dataclass
class Broken:
    """Settles nothing."""

    error: BaseException

    async def settle(self, settlement: Settlement) -> Never:
        raise self.error


class Traced:
    """An engine on fakes whose telemetry goes to memory."""

    def __init__(
        self,
        *processors: SpanProcessor,
        sampler: Sampler | None = None,
        consumer: Consumer | None = None,
        digest_keys: bool = False,
    ) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        self.provider = TracerProvider(sampler=sampler)
        for processor in (*processors, SimpleSpanProcessor(self.exporter)):
            self.provider.add_span_processor(processor)
        self.store = MemoryStore()
        self.settler = Confirming()
        self.clock = VirtualClock()
        telemetry = LogTelemetry(
            "orders",
            digest_keys=digest_keys,
            tracer_provider=self.provider,
            meter_provider=MeterProvider([self.reader]),
        )
        self.engine = Engine(
            consumer or order_consumer(),
            self.store,
            Circuit(self.store.probe, container="c", clock=self.clock, telemetry=telemetry),
            profile=Profile(),
            clock=self.clock,
            telemetry=telemetry,
            chance=lambda: 1.0,
            new_token=iter(f"token-{n}" for n in range(100)).__next__,
        )

    async def handle(self, received: Delivery | None = None) -> ReadableSpan:
        """The span of a delivery, once it is handled."""
        await self.clock.run(self.engine.handle(received or delivery(), self.settler))
        return self.consumer_spans()[-1]

    def consumer_spans(self) -> list[ReadableSpan]:
        spans = self.exporter.get_finished_spans()
        return [span for span in spans if span.kind is SpanKind.CONSUMER]

    def points(self) -> dict[str, Sequence[Any]]:
        """The data points of each metric."""
        told = self.reader.get_metrics_data()
        assert told is not None
        metrics = told.resource_metrics[0].scope_metrics[0].metrics
        return {metric.name: metric.data.data_points for metric in metrics}


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_a_span_says_what_was_processed_and_what_became_of_it() -> None:
    span = await Traced().handle(delivery(correlation_id="basket 9", enqueued_time=NOON))
    assert span.name == "process orders"
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(span) == {
        "messaging.system": "servicebus",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "orders",
        "messaging.message.id": "ord-1001",
        "messaging.message.conversation_id": "basket 9",
        "messaging.servicebus.message.delivery_count": 1,
        "messaging.servicebus.message.enqueued_time": int(NOON.timestamp()),
        "idempotent_consumer.consumer": "order-processor",
        "idempotent_consumer.key": "ord-1001",
        "idempotent_consumer.outcome": "applied",
        "idempotent_consumer.settlement": "complete",
        "idempotent_consumer.settled": "confirmed",
    }


async def test_what_an_sdk_traces_while_a_message_is_handled_is_below_its_span() -> None:
    consumer, current = order_consumer(), []

    @consumer.handler(dict, type="watched")
    def watch(order: dict[str, Any], message: Message) -> Writes:
        current.append(get_current_span().get_span_context())
        return [Create(order)]

    span = await Traced(consumer=consumer).handle(delivery(subject="watched"))
    assert current == [span.context]
    assert not get_current_span().get_span_context().is_valid


async def test_a_mismatch_is_an_error_with_its_reason() -> None:
    traced = Traced()
    await traced.handle()
    span = await traced.handle(delivery({**ORDER, "total": 1}))
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    expected = {
        "error.type": "mismatch",
        "idempotent_consumer.outcome": "mismatch",
        "idempotent_consumer.settlement": "dead_letter",
        "idempotent_consumer.reason": "RequestHashMismatch",
    }
    assert attributes(span).items() >= expected.items()


@pytest.mark.parametrize("kind", FaultKind)
async def test_a_store_that_fails_is_an_error(kind: FaultKind) -> None:
    traced = Traced()
    traced.store.troubles.append(Trouble(fault=Fault(kind=kind, cause="503"), times=None))
    span = await traced.handle()
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["idempotent_consumer.cause"] == "503"
    assert attributes(span)["error.type"] == OutcomeName(kind.value)


async def test_a_message_that_is_rejected_is_no_error_of_the_consumer() -> None:
    span = await Traced().handle(delivery(b"no JSON"))
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(span)["idempotent_consumer.reason"] == "MalformedBody"
    assert "idempotent_consumer.key" not in attributes(span)


@pytest.mark.parametrize("error", [RuntimeError(CANARY), asyncio.CancelledError(CANARY)])
async def test_what_breaks_the_handling_passes_through_by_its_name_alone(
    error: BaseException,
) -> None:
    traced = Traced()
    with pytest.raises(type(error)):
        await traced.engine.handle(delivery(), Broken(error))
    (span,) = traced.consumer_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] == type(error).__name__
    assert span.events == ()
    assert CANARY not in span.to_json()


async def test_the_digest_stands_for_the_key_on_spans_too() -> None:
    span = await Traced(digest_keys=True).handle()
    assert attributes(span)["idempotent_consumer.key"].startswith("sha256:")
    assert "ord-1001" not in span.to_json()


async def test_a_key_that_is_no_unicode_does_not_spoil_a_batch() -> None:
    span = await Traced().handle(delivery(message_id="\ud800"))
    assert attributes(span)["messaging.message.id"] == r"\ud800"


@pytest.mark.parametrize(
    "properties",
    [
        {"traceparent": SENT},
        {"Diagnostic-Id": SENT},
        {"traceparent": "nonsense", "Diagnostic-Id": SENT},
        {"traceparent": SENT, "Diagnostic-Id": f"00-{OTHER_TRACE}-{SENDER}-01"},
    ],
)
async def test_without_a_host_the_sender_is_the_parent(properties: dict[str, object]) -> None:
    span = await Traced().handle(delivery(properties=properties))
    assert span.parent is not None
    assert f"{span.parent.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == SENDER
    assert span.parent.is_remote
    assert span.links == ()


@pytest.mark.parametrize(
    "told",
    [None, "", "|4bf92f35.1.", f"00-{'0' * 32}-{SENDER}-01", "x" * 10_000, b"\xff", 7, {"a": 1}],
)
async def test_a_sender_that_does_not_trace_makes_a_new_trace(told: object) -> None:
    span = await Traced().handle(delivery(properties={"traceparent": told, "Diagnostic-Id": told}))
    assert span.parent is None
    assert span.links == ()


async def test_the_hosts_span_is_the_parent_and_the_senders_trace_is_linked() -> None:
    traced = Traced()
    with traced.provider.get_tracer("host").start_as_current_span("invocation") as host:
        span = await traced.handle(delivery(properties={"traceparent": SENT}))
    assert span.parent == host.get_span_context()
    (link,) = span.links
    assert f"{link.context.trace_id:032x}" == TRACE
    assert f"{link.context.span_id:016x}" == SENDER


async def test_a_host_that_is_in_the_senders_trace_needs_no_link() -> None:
    traced = Traced()
    with traced.provider.get_tracer("host").start_as_current_span("invocation") as host:
        trace = f"{host.get_span_context().trace_id:032x}"
        properties = {"traceparent": f"00-{trace}-{SENDER}-01"}
        span = await traced.handle(delivery(properties=properties))
    assert span.parent == host.get_span_context()
    assert span.links == ()


async def test_tracestate_is_not_taken_over() -> None:
    properties = {"traceparent": SENT, "tracestate": f"vendor={CANARY}"}
    span = await Traced().handle(delivery(properties=properties))
    assert span.context is not None
    assert CANARY not in repr(span.context.trace_state)
    assert CANARY not in span.to_json()


def quote(order: dict[str, Any]) -> dict[str, Any]:
    """A decoder that repeats what it was given."""
    raise {"refuse": ValueError, "break": KeyError}[order["mode"]](CANARY)


HOSTILE = {"traceparent": SENT, "tracestate": f"v={CANARY}", "tenant": CANARY, CANARY: 1}


def secret(message_id: str, **more: Any) -> Delivery:
    """A delivery with what must not be told, wherever a sender can put it."""
    body = {**ORDER, "orderId": message_id, "name": CANARY, "mode": message_id}
    options = {name: more.pop(name) for name in ("subject", "delivery_count") if name in more}
    return delivery(body | more, message_id, properties=HOSTILE, **options)


SECRETS = {
    "applied": secret("ord-1"),
    "duplicate": secret("ord-1", delivery_count=2),
    "mismatch": secret("ord-1", name=CANARY + CANARY),
    "rejected": delivery(CANARY.encode(), properties=HOSTILE),
    "rejected by the decoder": secret("refuse", subject="quoted"),
    "failed": secret("break", subject="quoted"),
}


@pytest.mark.case("OBS-01")
@pytest.mark.parametrize("digest_keys", [False, True])
async def test_nothing_of_bodies_and_properties_leaves(
    caplog: pytest.LogCaptureFixture, *, digest_keys: bool
) -> None:
    """In no span, log line or metric, whatever becomes of the message."""
    consumer = order_consumer()
    consumer.handler(quote, type="quoted")(lambda order, message: [])
    traced = Traced(consumer=consumer, digest_keys=digest_keys)
    caplog.set_level("DEBUG", logger=LOGGER)
    spans = [await traced.handle(received) for received in SECRETS.values()]
    outcomes = [attributes(span)["idempotent_consumer.outcome"] for span in spans]
    assert outcomes == [name.partition(" ")[0] for name in SECRETS]
    assert len(caplog.records) == len(SECRETS)
    told = [span.to_json() for span in spans]
    told += [repr(vars(record)) for record in caplog.records]
    told.append(repr(traced.reader.get_metrics_data()))
    assert [text for text in told if CANARY in text] == []


async def test_metrics_name_no_message() -> None:
    """Their attributes are few and closed: whatever has a value for each message is absent."""
    traced = Traced()
    for number in range(3):
        await traced.handle(
            delivery(
                {**ORDER, "orderId": f"id-{number}"},
                message_id=f"id-{number}",
                correlation_id=f"id-{number}",
                session_id=f"id-{number}",
                sequence_number=70_000 + number,
            )
        )
    told = traced.points()
    assert {len(points) for points in told.values()} == {1}
    assert "id-" not in repr(told)
    assert {name for (point,) in told.values() for name in point.attributes} == {
        "outcome",
        "cause",
        "consumer",
        "entity",
    }


class Raising(SpanProcessor):
    """Raises when it is told of a span."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        raise RuntimeError("no room")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("no room")


class RaisingAtTheEnd(Raising):
    """Raises when a span has ended."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        pass


class RaisingSampler(Sampler):
    """Raises when it is asked."""

    def should_sample(self, *arguments: Any, **more: Any) -> Never:
        raise RuntimeError("no idea")

    def get_description(self) -> str:
        return "raising"


@pytest.mark.parametrize(
    "broken",
    [
        {"processors": [Raising()]},
        {"processors": [RaisingAtTheEnd()]},
        {"sampler": RaisingSampler()},
        {"sampler": ALWAYS_OFF},
    ],
    ids=["start", "end", "sampler", "not sampled"],
)
async def test_a_broken_tracer_touches_no_settlement(broken: dict[str, Any]) -> None:
    traced = Traced(*broken.get("processors", ()), sampler=broken.get("sampler"))
    outcome = await traced.clock.run(traced.engine.handle(delivery(), traced.settler))
    assert outcome.name is OutcomeName.APPLIED
    assert traced.settler.settlements == [Complete()]


class Blocking(SpanExporter):
    """Waits for a network that does not answer, then fails."""

    def __init__(self) -> None:
        self.called, self.released = threading.Event(), threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.called.set()
        self.released.wait()
        raise ConnectionError("gone")

    def shutdown(self) -> None:
        pass


async def test_an_exporter_that_blocks_and_raises_touches_no_settlement() -> None:
    exporter = Blocking()
    batches = BatchSpanProcessor(exporter, schedule_delay_millis=1)
    traced = Traced(batches)
    try:
        await traced.handle()
        assert await asyncio.to_thread(exporter.called.wait, 5)
        await traced.handle(delivery(delivery_count=2))
        assert traced.settler.settlements == [Complete(), Complete()]
    finally:
        exporter.released.set()
        traced.provider.shutdown()


@pytest.mark.case("OBS-03")
async def test_a_duplicate_is_as_old_as_its_marker() -> None:
    traced = Traced()
    await traced.handle()
    traced.clock.advance(timedelta(hours=2).total_seconds())
    await traced.handle(delivery(sequence_number=8))
    (point,) = traced.points()[DUPLICATE_AGE]
    assert (point.count, point.sum) == (1, 7200.0)
    assert point.attributes == {
        "cause": "producer re-send",
        "consumer": "order-processor",
        "entity": "orders",
    }
