"""Microsoft's unmodified client: sessions, topics, and messages that wait for something."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    ServiceBusMessage,
    ServiceBusMessageState,
    ServiceBusReceiveMode,
)
from azure.servicebus.exceptions import (
    MessageNotFoundError,
    MessagingEntityNotFoundError,
    OperationTimeoutError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)

from emulators.tests.servicebus.conftest import QUICK, WAIT, connect, receive_one
from local_azure.faults import Lapse
from local_azure.servicebus import (
    CorrelationFilter,
    LocalServiceBus,
    QueueProperties,
    Rule,
    SqlFilter,
    SubscriptionProperties,
    TopicProperties,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver

_SESSIONS = "sessions"


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    queues = {
        "orders": QueueProperties(),
        _SESSIONS: QueueProperties(requires_session=True),
    }
    red = Rule(filter=CorrelationFilter(system={"Label": "red"}, user={"n": 1}))
    big = Rule(filter=SqlFilter(expression="n > 1 AND sys.Label LIKE 'b%'"))
    topic = TopicProperties(
        subscriptions={
            "all": SubscriptionProperties(),
            "some": SubscriptionProperties(rules={"red": red, "big": big}),
        }
    )
    async with LocalServiceBus(queues, topics={"events": topic}) as bus:
        yield bus


@asynccontextmanager
async def session(
    client: ServiceBusClient, session_id: Any, **more: Any
) -> AsyncIterator[ServiceBusReceiver]:
    settings = {"prefetch_count": 1, **QUICK, **more}
    async with client.get_queue_receiver(_SESSIONS, session_id=session_id, **settings) as receiver:
        yield receiver


async def send(client: ServiceBusClient, queue: str, *messages: ServiceBusMessage) -> None:
    async with client.get_queue_sender(queue, **QUICK) as sender:
        await sender.send_messages(list(messages))


async def test_the_lock_of_a_session_may_be_lost_to_another(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    await send(client, _SESSIONS, ServiceBusMessage(b"x", session_id="a"))
    bus.faults.add(Lapse(), operation="complete", entity=_SESSIONS)
    async with session(client, "a") as receiver:
        (message,) = await receiver.receive_messages(max_wait_time=5)
        with pytest.raises(SessionLockLostError):
            await receiver.complete_message(message)
    async with session(client, "a") as receiver:
        (again,) = await receiver.receive_messages(max_wait_time=5)
        assert again.delivery_count == 1


async def test_a_session_is_received_in_order_and_keeps_a_state(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    bodies = [f"{name}{number}" for number in range(3) for name in "ab"]
    await send(client, _SESSIONS, *(ServiceBusMessage(b, session_id=b[0]) for b in bodies))
    async with session(client, NEXT_AVAILABLE_SESSION) as receiver:
        assert receiver.session.session_id == "a"
        until = receiver.session.locked_until_utc
        assert until is not None
        assert until > datetime.now(UTC) + timedelta(seconds=50)
        for number in range(3):
            message = await receive_one(receiver)
            assert (str(message), message.session_id) == (f"a{number}", "a")
            await receiver.complete_message(message)
        assert await receiver.session.get_state() is None
        await receiver.session.set_state(b"state")
        await receiver.session.renew_lock()
    async with session(client, "a") as receiver:
        assert await receiver.session.get_state() == b"state"
    assert bus.events.of("session_renewed", key="a")
    assert bus.events.of("session_closed", key="a")
    assert [name async for name in client.list_queue_sessions(_SESSIONS)] == ["b", "a"]


async def test_a_session_is_one_receivers(client: ServiceBusClient) -> None:
    async with session(client, "a"):
        with pytest.raises(SessionCannotBeLockedError):
            async with session(client, "a"):
                pass


async def test_who_waits_for_a_session_gets_the_first_that_comes(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    async def accept() -> str | None:
        async with session(client, NEXT_AVAILABLE_SESSION, max_wait_time=WAIT) as receiver:
            return receiver.session.session_id

    waiting = asyncio.create_task(accept())
    while not getattr(bus.queue(_SESSIONS).listener, "_waiters", ()):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await send(client, _SESSIONS, ServiceBusMessage("x", session_id="late"))
    assert await waiting == "late"


async def test_who_waits_in_vain_for_a_session_is_told(bus: LocalServiceBus) -> None:
    async with connect(bus, retry_total=0) as client:
        with pytest.raises(OperationTimeoutError):
            async with session(client, NEXT_AVAILABLE_SESSION, max_wait_time=0.1):
                pass


async def test_a_lost_session_ends_its_link(bus: LocalServiceBus) -> None:
    async with connect(bus, retry_total=0) as client:
        await send(client, _SESSIONS, ServiceBusMessage("x", session_id="a"))
        async with session(client, "a") as receiver:
            message = await receive_one(receiver)
            bus.clock.advance(60)
            with pytest.raises(SessionLockLostError):
                await receiver.complete_message(message)
        async with session(client, "a") as receiver:
            again = await receive_one(receiver)
            assert again.delivery_count == 1


async def test_a_subscription_gets_what_its_rules_choose(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    properties: list[tuple[str, dict[str | bytes, Any]]] = [
        ("red", {"n": 1}),
        ("red", {"n": 2}),
        ("blue", {"n": 2}),
    ]
    async with client.get_topic_sender("events", **QUICK) as sender:
        for label, others in properties:
            message = ServiceBusMessage("x", subject=label, application_properties=others)
            await sender.send_messages(message)
    assert bus.queue("events/Subscriptions/all").active_count == 3
    async with client.get_subscription_receiver(
        "events", "some", prefetch_count=1, **QUICK
    ) as receiver:
        for label in ("red", "blue"):
            got = await receive_one(receiver)
            assert got.subject == label
            await receiver.complete_message(got)
    assert bus.queue("events/Subscriptions/some").messages == ()


async def test_a_scheduled_message_comes_at_its_time(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    at = datetime.now(UTC) + timedelta(minutes=5)
    async with client.get_queue_sender("orders", **QUICK) as sender:
        first, second = await sender.schedule_messages(
            [ServiceBusMessage("a"), ServiceBusMessage("b")], at
        )
        await sender.cancel_scheduled_messages(first)
        with pytest.raises(MessageNotFoundError):
            await sender.cancel_scheduled_messages(first)
    async with client.get_queue_receiver("orders", prefetch_count=1, **QUICK) as receiver:
        (shown,) = await receiver.peek_messages(5)
        assert (shown.state, shown.sequence_number) == (ServiceBusMessageState.SCHEDULED, second)
        bus.clock.advance(301)
        message = await receive_one(receiver)
        assert (str(message), message.state) == ("b", ServiceBusMessageState.ACTIVE)
        assert message.sequence_number is not None
        assert message.sequence_number > second


async def test_a_deferred_message_is_received_by_its_number(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    await send(client, "orders", ServiceBusMessage("x"))
    async with client.get_queue_receiver("orders", prefetch_count=1, **QUICK) as receiver:
        message = await receive_one(receiver)
        await receiver.defer_message(message)
        number = message.sequence_number
        assert number is not None
        assert bus.queue("orders").deferred_count == 1
        (again,) = await receiver.receive_deferred_messages(number)
        assert again.state == ServiceBusMessageState.DEFERRED
        await receiver.renew_message_lock(again)
        await receiver.complete_message(again)
        with pytest.raises(MessageNotFoundError):
            await receiver.receive_deferred_messages([number])
    assert bus.queue("orders").messages == ()


async def test_receive_and_delete(bus: LocalServiceBus, client: ServiceBusClient) -> None:
    await send(client, "orders", ServiceBusMessage("x"))
    async with client.get_queue_receiver(
        "orders", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE, **QUICK
    ) as receiver:
        (message,) = await receiver.receive_messages(1, max_wait_time=WAIT)
        assert str(message) == "x"
    assert bus.queue("orders").messages == ()


async def test_peeking_moves_on_and_takes_nothing(
    bus: LocalServiceBus, client: ServiceBusClient
) -> None:
    await send(client, "orders", *(ServiceBusMessage(str(number)) for number in range(5)))
    async with client.get_queue_receiver("orders", prefetch_count=1, **QUICK) as receiver:
        assert [str(each) for each in await receiver.peek_messages(2)] == ["0", "1"]
        assert [str(each) for each in await receiver.peek_messages(9)] == ["2", "3", "4"]
        assert await receiver.peek_messages(1) == []


async def test_who_uses_a_queue_is_sent_away_when_it_is_deleted(bus: LocalServiceBus) -> None:
    async with (
        connect(bus, retry_total=0) as client,
        client.get_queue_sender("orders", **QUICK) as sender,
        client.get_queue_receiver("orders", prefetch_count=1, **QUICK) as receiver,
    ):
        bus.entities.delete("orders")
        with pytest.raises(MessagingEntityNotFoundError):
            await receiver.receive_messages(1, max_wait_time=WAIT)
        with pytest.raises(MessagingEntityNotFoundError):
            await sender.send_messages(ServiceBusMessage("x"))
