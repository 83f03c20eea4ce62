"""The trace of an invocation: spans made while it runs belong to the host's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry.context import attach, detach, get_current
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from collections.abc import Iterator

    import azure.functions as func

_PROPAGATOR = TraceContextTextMapPropagator()


@contextmanager
def host_span(context: func.Context) -> Iterator[None]:
    """Makes the host's span the current one; the worker does so under some settings only."""
    host = context.trace_context
    carrier = {"traceparent": host.trace_parent or "", "tracestate": host.trace_state or ""}
    token = attach(_PROPAGATOR.extract(carrier, get_current()))
    try:
        yield
    finally:
        detach(token)
