"""The one place that logs, counts and traces."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from idempotent_consumer.telemetry.log import Log
from idempotent_consumer.telemetry.metrics import Metrics
from idempotent_consumer.telemetry.shown import digest, shortened
from idempotent_consumer.telemetry.spans import Spans

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.engine.events import Event
    from idempotent_consumer.servicebus.events import WorkerEvent


class LogTelemetry:
    """Logs to the logger ``idempotent_consumer``; counts and traces by the OpenTelemetry API.

    Args:
        entity: The queue's name, for metrics and spans.
        digest_keys: Show a key as ``sha256:`` and the first 16 hex digits of its SHA-256.
            The MessageId is shown likewise, for it is mostly the key.
        meter_provider: OpenTelemetry's global one where it is left out.
        tracer_provider: Likewise.
    """

    def __init__(
        self,
        entity: str,
        *,
        digest_keys: bool = False,
        meter_provider: MeterProvider | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        show_key = digest if digest_keys else shortened
        self._spans = Spans(entity, show_key, tracer_provider)
        self._writers = (Log(show_key), Metrics(entity, meter_provider), self._spans)

    def handling(self, delivery: Delivery) -> AbstractContextManager[None]:
        return self._spans.handling(delivery)

    def record(self, event: Event | WorkerEvent) -> None:
        for writer in self._writers:
            with suppress(Exception):  # no log handler and no exporter may stop a message
                writer.record(event)
