"""The story: what happens to the shop, scene by scene, and what must come of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azure.servicebus import ServiceBusMessage

from local_azure.faults import Delay, Drop, Fail, Hang
from shop.demo.facts import Delivery, Facts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from shop.demo.stage import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One thing that happens.

    Attributes:
        orders: The ids that it is about: of orders, and of messages but where they differ.
        message_ids: Of its messages, where they are no order's id.
    """

    title: str
    orders: tuple[str, ...]
    play: Callable[[Stage], Awaitable[None]]
    expected: Facts
    message_ids: tuple[str | None, ...] = ()


def order(order_id: str, *, quantity: int = 1) -> bytes:
    """The body of an order with two lines."""
    lines = [
        {"sku": "mug", "quantity": quantity, "unitPrice": "8.50"},
        {"sku": "tea", "quantity": 2, "unitPrice": "4.20"},
    ]
    body = {"orderId": order_id, "customerId": "C-7", "currency": "EUR", "lines": lines}
    return json.dumps(body).encode()


def message(message_id: str, body: bytes | None = None) -> ServiceBusMessage:
    """A message as a producer builds it; by default with the order of that id."""
    return ServiceBusMessage(
        body or order(message_id), message_id=message_id, content_type="application/json"
    )


async def _new_order(stage: Stage) -> None:
    await stage.send(message("A-1001"))


async def _sent_again_at_once(stage: Stage) -> None:
    await stage.send(message("A-1001"))


async def _sent_again_later(stage: Stage) -> None:
    stage.pass_window()
    await stage.send(message("A-1001"))


async def _changed_payload(stage: Stage) -> None:
    stage.pass_window()
    await stage.send(message("A-1001", order("A-1001", quantity=3)))


async def _settlement_lost(stage: Stage) -> None:
    """The connection breaks whenever the worker says complete, until the lock has expired."""
    cut = stage.bus.faults.add(Drop(applied=False), operation="complete", key="A-1002", times=None)
    await stage.send(message("A-1002"))
    await stage.until(lambda: cut.hits, "the settlement")
    stage.pass_lock()
    stage.bus.faults.remove(cut)


async def _two_copies_at_a_time(stage: Stage) -> None:
    """The first copy's commit is under way for so long that the second overtakes it."""
    slow = stage.cosmos.faults.add(Delay(seconds=1.5), operation="batch", key="A-1003")
    await stage.send(message("A-1003"))
    await stage.until(lambda: slow.hits, "the first copy's commit")
    stage.pass_window()
    await stage.send(message("A-1003"))


async def _malformed_body(stage: Stage) -> None:
    await stage.send(message("A-1004", order("A-1004")[:-1]))


async def _no_message_id(stage: Stage) -> None:
    nameless = message("A-1005")
    nameless.message_id = None  # without one, the SDK would draw one
    await stage.send(nameless)


async def _order_id_disagrees(stage: Stage) -> None:
    await stage.send(message("A-1006", order("A-9999")))


async def _outage(stage: Stage) -> None:
    """Three orders are caught in it and open the circuit; the fourth waits in the queue."""
    outage = stage.cosmos.faults.add(Fail(code=503), times=None)
    await stage.send(*map(message, ("A-1007", "A-1008", "A-1009")))
    await stage.until(lambda: stage.worker.said("circuit opened"), "the circuit to open")
    await stage.send(message("A-1010"))
    await asyncio.sleep(0.5)  # the outage lasts
    stage.cosmos.faults.remove(outage)
    await stage.until(lambda: stage.worker.said("circuit closed"), "the circuit to close")


async def _crash_after_commit(stage: Stage) -> None:
    """The order is stored, the broker has not been heard: the worker is killed just then."""
    unheard = stage.bus.faults.add(Hang(applied=False), operation="complete", key="A-1011")
    await stage.send(message("A-1011"))
    await stage.until(lambda: unheard.hits, "the settlement after the commit")
    await stage.worker.kill()
    stage.pass_lock()
    await stage.worker.start()


APPLIED = Delivery(outcome="applied", settlement="complete")


def _duplicate(cause: str) -> Delivery:
    return Delivery(outcome="duplicate", cause=cause, settlement="complete")


def _rejected(reason: str) -> Delivery:
    return Delivery(outcome="rejected", cause=reason, settlement="dead_letter", reason=reason)


STORY = (
    Scene(
        title="New order with its lines, one batch",
        orders=("A-1001",),
        play=_new_order,
        expected=Facts(deliveries=(APPLIED,), store_calls=("batch 200",), documents=3),
    ),
    Scene(
        title="Producer re-send inside the detection window",
        orders=("A-1001",),
        play=_sent_again_at_once,
        expected=Facts(dropped=1, documents=3),
    ),
    Scene(
        title="Producer re-send outside the detection window",
        orders=("A-1001",),
        play=_sent_again_later,
        expected=Facts(
            deliveries=(_duplicate("producer re-send"),),
            store_calls=("batch 207", "read 200"),
            documents=3,
        ),
    ),
    Scene(
        title="Changed payload under the same MessageId",
        orders=("A-1001",),
        play=_changed_payload,
        expected=Facts(
            deliveries=(
                Delivery(
                    outcome="mismatch", settlement="dead_letter", reason="RequestHashMismatch"
                ),
            ),
            store_calls=("batch 207", "read 200"),
            documents=3,
        ),
    ),
    Scene(
        title="Broker redelivery after a lost settlement",
        orders=("A-1002",),
        play=_settlement_lost,
        expected=Facts(
            deliveries=(
                Delivery(outcome="applied", settlement="lock expired"),
                _duplicate("redelivery"),
            ),
            store_calls=("batch 200", "read 200"),
            documents=3,
        ),
    ),
    Scene(
        title="Two concurrent copies",
        orders=("A-1003",),
        play=_two_copies_at_a_time,
        expected=Facts(
            deliveries=(APPLIED, _duplicate("concurrent copy")),
            store_calls=("batch 200", "batch 207", "read 200"),
            documents=3,
        ),
    ),
    Scene(
        title="Malformed body",
        orders=("A-1004",),
        play=_malformed_body,
        expected=Facts(deliveries=(_rejected("MalformedBody"),)),
    ),
    Scene(
        title="No MessageId",
        orders=("A-1005",),
        message_ids=(None,),
        play=_no_message_id,
        expected=Facts(deliveries=(_rejected("MissingMessageId"),)),
    ),
    Scene(
        title="orderId and MessageId disagree",
        orders=("A-1006", "A-9999"),
        play=_order_id_disagrees,
        expected=Facts(deliveries=(_rejected("KeyDisagrees"),), store_calls=("read 404",)),
    ),
    Scene(
        title="Store outage that heals, four orders",
        orders=("A-1007", "A-1008", "A-1009", "A-1010"),
        play=_outage,
        expected=Facts(
            deliveries=(APPLIED,) * 4,
            store_calls=("batch 503 ...", *("batch 200",) * 4),
            documents=12,
        ),
    ),
    Scene(
        title="SIGKILL between commit and settlement",
        orders=("A-1011",),
        play=_crash_after_commit,
        expected=Facts(
            deliveries=(Delivery(settlement="lock expired"), _duplicate("redelivery")),
            store_calls=("batch 200", "read 200"),
            documents=3,
        ),
    ),
)
