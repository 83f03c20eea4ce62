"""What the host's metadata becomes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

pytest.importorskip("azure.functions", reason="the extra functions is not installed")

from azure.functions.meta import Datum

from idempotent_consumer.core.delivery import Delivery
from idempotent_consumer.functions.delivery import to_delivery
from tests.unit.functions.samples import LOCK_TOKEN, METADATA, message


def test_a_full_message_is_mapped_whole() -> None:
    assert to_delivery(message(b'{"orderId": 1}')) == Delivery(
        message_id="ord-1001",
        body=b'{"orderId": 1}',
        lock_token=LOCK_TOKEN,
        delivery_count=1,
        sequence_number=7,
        enqueued_time=datetime(2026, 1, 1, 12, 0, 0, 123000, tzinfo=UTC),
        subject="order-placed",
        content_type="application/json",
        correlation_id="corr-1",
        session_id="session-1",
        properties={"tenant": "eu"},
    )


def test_what_the_host_leaves_out_is_absent() -> None:
    nothing: dict[str, Datum | None] = dict.fromkeys(METADATA.keys() - {"UserProperties"})
    assert to_delivery(message(b"", **nothing)) == Delivery(
        message_id=None, body=b"", lock_token="", delivery_count=1
    )


def test_the_host_counts_deliveries_from_one_as_the_engine_does() -> None:
    assert to_delivery(message(b"", DeliveryCount=Datum("2", "json"))).delivery_count == 2


def test_a_body_that_is_no_text_arrives_as_it_was_sent() -> None:
    assert to_delivery(message(b"\xff\xfe{}")).body == b"\xff\xfe{}"
