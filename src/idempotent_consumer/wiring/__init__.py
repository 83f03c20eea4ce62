"""The one place that joins settings, store, engine and host."""

from __future__ import annotations

from idempotent_consumer.wiring.assembly import Assembly

__all__ = ["Assembly"]
