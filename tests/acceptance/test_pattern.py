"""The Idempotent Consumer pattern's example, sentence by sentence.

The docstring of each test is a sentence of the pattern's page in the Azure Architecture
Center; `docs/pattern.md` lists them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from azure.cosmos.aio import CosmosClient

from local_azure.faults import Delay, Fail, Hang
from tests.acceptance.shop import LOCK, order, until

if TYPE_CHECKING:
    from tests.acceptance.shop import Shop


async def test_the_message_id_is_a_business_identifier(shop: Shop) -> None:
    """A producer sets the Service Bus MessageId to a business-level order identifier."""
    async with shop.worker():
        await shop.send(order("ord-42"), "ord-42")
        await shop.completed(key="ord-42")
    (stored,) = shop.documents("order")
    assert stored["idempotency"]["key"] == "ord-42"


async def test_an_unsettled_message_is_delivered_again(shop: Shop) -> None:
    """The consumer receives the message in PeekLock mode, which makes the message available for redelivery if the consumer doesn't settle it before the lock expires."""  # noqa: E501
    before_the_completion = shop.bus.faults.add(Hang(applied=False), operation="complete")
    async with shop.worker_process():
        await shop.send(order())
        await until(lambda: before_the_completion.hits == 1)
    shop.bus.clock.advance(LOCK)
    async with shop.worker():
        await shop.completed()
    assert shop.happened("delivered") == 2
    assert len(shop.documents("order")) == 1


async def test_id_and_partition_value_are_the_order_identifier(shop: Shop) -> None:
    """The consumer's Azure Cosmos DB container partitions on the /orderId order identifier and sets the document id to the same order identifier, so every copy of a given order resolves to the same logical partition and the order id itself serves as the deduplication marker."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
    async with CosmosClient(shop.cosmos.endpoint, shop.cosmos.key) as client:
        container = client.get_database_client("shop").get_container_client("orders")
        stored = await container.read_item("ord-1001", partition_key="ord-1001")
    assert stored["idempotency"]["consumer"] == "order-processor"


async def test_the_message_id_is_the_key(shop: Shop) -> None:
    """Read the message and use its MessageId as the deduplication key."""
    async with shop.worker():
        await shop.send(order("ord-1"), "ord-1")
        await shop.send(order("ord-2"), "ord-2")
        await shop.completed(key="ord-1")
        await shop.completed(key="ord-2")
    assert {document["id"] for document in shop.documents("order")} == {"ord-1", "ord-2"}


async def test_the_first_call_is_the_create(shop: Shop) -> None:
    """Attempt to create the order document with the id and partition key both set to the order identifier."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
    assert shop.store_calls() == ["batch"]


async def test_a_created_order_completes_its_message(shop: Shop) -> None:
    """If the creation succeeds, complete the message so that Service Bus removes it from the queue."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
    assert shop.bus.queue("orders").active_count == 0


async def test_a_conflict_reads_the_existing_document(shop: Shop) -> None:
    """If the creation fails with an HTTP 409 (Conflict) status because a document with that id already exists, read the existing document and compare it to the current message."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
        await shop.send_again(order())
        await shop.completed(2)
    assert shop.store_calls() == ["batch", "batch", "read"]
    assert [event.detail for event in shop.cosmos.events.of("batch")] == ["200", "207"]


async def test_equal_content_is_a_duplicate(shop: Shop) -> None:
    """If the stored request hash or immutable business fields match, treat the message as a duplicate, complete it, and skip further processing."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
        stored = shop.documents()
        respelled = dict(reversed(order().items()))
        await shop.send_again(respelled)
        await shop.completed(2)
    assert shop.documents() == stored


async def test_other_content_is_dead_lettered_with_an_alert(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """If the stored request hash or immutable business fields don't match, send the message to a dead-letter queue and raise an alert, rather than silently discarding the message."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
        stored = shop.documents()
        await shop.send_again(order(customerId="somebody else"))
        await shop.dead_lettered()
    (letter,) = await shop.dead_letters()
    assert letter.dead_letter_reason == "RequestHashMismatch"
    assert "differing: customerId" in (letter.dead_letter_error_description or "")
    assert shop.documents() == stored
    (alert,) = (record for record in caplog.records if record.levelno == logging.ERROR)
    assert vars(alert)["outcome"] == "mismatch"


async def test_a_transient_failure_lets_the_lock_expire(shop: Shop) -> None:
    """If processing fails for a transient reason, abandon the message so that Service Bus redelivers it, or let the lock expire so another consumer can receive it."""  # noqa: E501
    outage = shop.cosmos.faults.add(Fail(code=503), operation="batch", times=None)
    async with shop.worker_process():
        await shop.send(order())
        await until(lambda: outage.hits > 1)
    assert shop.happened("dead_lettered") == 0
    shop.cosmos.faults.clear()
    shop.bus.clock.advance(LOCK)
    async with shop.worker():
        await shop.completed()
    assert len(shop.documents("order")) == 1


async def test_of_two_consumers_with_copies_one_creates_the_order(shop: Shop) -> None:
    """The create operation is atomic, so it serves as both the deduplication check and the write operation. Two consumers that receive copies of the same message can't both create the order. One creation attempt succeeds, and the other attempt returns a conflict and safely discards its duplicate."""  # noqa: E501
    await shop.send(order())
    await shop.send_again(order())
    shop.cosmos.faults.add(Delay(seconds=0.2), operation="batch", times=2)
    async with shop.worker(concurrency=1), shop.worker(concurrency=1):
        await shop.completed(2)
    assert sorted(event.detail or "" for event in shop.cosmos.events.of("batch")) == ["200", "207"]
    assert len(shop.documents("order")) == 1


async def test_several_documents_are_one_batch(shop: Shop) -> None:
    """When processing must write more than one document, use a transactional batch that includes both the deduplication key and the business documents within the same partition key."""  # noqa: E501
    lines = [{"sku": f"SKU-{n}", "quantity": n, "unitPrice": "1.00"} for n in range(1, 6)]
    async with shop.worker():
        await shop.send(order(lines=lines))
        await shop.completed()
    assert shop.store_calls() == ["batch"]
    assert len(shop.documents("orderLine")) == 5
    assert {document["orderId"] for document in shop.documents()} == {"ord-1001"}


@pytest.mark.case("CON-06")
async def test_a_batch_is_stored_whole_or_not_at_all(shop: Shop) -> None:
    """The batch commits all the documents together or none at all, so a crash between processing and acknowledgment can't leave the deduplication marker and the business data out of sync."""  # noqa: E501
    before_the_commit = shop.cosmos.faults.add(Hang(applied=False), operation="batch")
    async with shop.worker_process():
        await shop.send(order())
        await until(lambda: before_the_commit.hits == 1)
    assert shop.documents() == []
    before_the_completion = shop.bus.faults.add(Hang(applied=False), operation="complete")
    shop.bus.clock.advance(LOCK)
    async with shop.worker_process():
        await until(lambda: before_the_completion.hits == 1)
    assert len(shop.documents()) == 2
    shop.bus.clock.advance(LOCK)
    async with shop.worker():
        await shop.completed()
    assert len(shop.documents()) == 2


async def test_a_batch_that_meets_its_order_is_a_duplicate(shop: Shop) -> None:
    """A batch that tries to create a document that already exists returns a 409 (Conflict) status, which identifies the duplicate."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.completed()
        await shop.send_again(order())
        await shop.completed(2)
    assert shop.happened("dead_lettered") == 0


async def test_a_re_send_inside_the_window_never_arrives(shop: Shop) -> None:
    """To make this idempotent consumer also resilient against duplicate send retries, enable duplicate detection on the queue. On a Standard or Premium queue, duplicate detection suppresses repeated sends within its history window."""  # noqa: E501
    async with shop.worker():
        await shop.send(order())
        await shop.send(order())
        await shop.completed()
    assert (shop.happened("duplicate_dropped"), shop.happened("delivered")) == (1, 1)


async def test_duplicates_outside_the_window_are_still_handled(shop: Shop) -> None:
    """The idempotent consumer still handles any duplicates that fall outside that window or that result from redelivery."""  # noqa: E501
    async with shop.worker():
        for copies in range(1, 4):
            await shop.send_again(order())
            await shop.completed(copies)
    assert shop.happened("delivered") == 3
    assert len(shop.documents("order")) == 1
