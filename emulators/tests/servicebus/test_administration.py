"""Microsoft's unmodified administration client against the management API."""

from __future__ import annotations

import base64
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import ClientSession, web
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.servicebus.aio.management import ServiceBusAdministrationClient
from azure.servicebus.management import (
    CorrelationRuleFilter,
    EntityStatus,
    FalseRuleFilter,
    SqlRuleAction,
    SqlRuleFilter,
    TrueRuleFilter,
)

from local_azure.listening import listening
from local_azure.servicebus import FalseFilter
from local_azure.servicebus.administration import Administration
from local_azure.servicebus.amqp.message import DATA, section
from local_azure.servicebus.nodes.content import WireContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.servicebus import LocalServiceBus

# Since Python 3.12 an element's truth value warns; the SDK asks for it.
pytestmark = pytest.mark.filterwarnings("ignore:Testing an element:DeprecationWarning")

_VALUES: dict[str, Any] = {
    "int": 1,
    "long": 2**40,
    "string": "x",
    "boolean": True,
    "double": 1.5,
    "dateTime": datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC),
    "duration": timedelta(days=1, seconds=2),
}
"""A value of each type that a rule can have."""


@pytest.fixture
async def url(bus: LocalServiceBus) -> AsyncIterator[str]:
    application = web.Application()
    application.add_routes(Administration(bus.entities, bus.key).routes())
    runner = web.AppRunner(application, access_log=None)
    async with listening(runner, "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def administrator(
    bus: LocalServiceBus, url: str, key: str = "SAS_KEY_VALUE"
) -> AsyncIterator[ServiceBusAdministrationClient]:
    """A client that is led to the emulator as Microsoft's sample does it."""
    text = bus.connection_string.replace("SAS_KEY_VALUE", key)
    async with ServiceBusAdministrationClient.from_connection_string(text, retry_total=0) as client:
        client._impl._client._base_url = url
        yield client


@pytest.fixture
async def admin(bus: LocalServiceBus, url: str) -> AsyncIterator[ServiceBusAdministrationClient]:
    async with administrator(bus, url) as client:
        yield client


async def test_a_queue_is_created_shown_changed_and_deleted(
    bus: LocalServiceBus, admin: ServiceBusAdministrationClient
) -> None:
    created = await admin.create_queue(
        "fresh",
        lock_duration=timedelta(seconds=30),
        max_delivery_count=4,
        requires_session=True,
        forward_dead_lettered_messages_to="orders",
        user_metadata="mine",
    )
    assert (created.name, created.status, created.user_metadata) == ("fresh", "Active", "mine")
    assert (created.max_delivery_count, created.requires_session) == (4, True)
    properties = bus.queue("fresh").properties
    assert properties.lock_duration == timedelta(seconds=30)
    assert properties.max_delivery_count == 4
    assert properties.requires_session
    assert properties.default_message_time_to_live > timedelta(days=10_000_000)
    created.lock_duration = timedelta(minutes=2)
    await admin.update_queue(created)
    assert (await admin.get_queue("fresh")).lock_duration == timedelta(minutes=2)
    assert bus.queue("fresh").properties.lock_duration == timedelta(minutes=2)
    await admin.delete_queue("fresh")
    with pytest.raises(ResourceNotFoundError):
        await admin.get_queue("fresh")


async def test_a_topic_has_subscriptions_and_these_have_rules(
    bus: LocalServiceBus, admin: ServiceBusAdministrationClient
) -> None:
    await admin.create_topic("events", requires_duplicate_detection=True)
    await admin.create_subscription("events", "all", max_delivery_count=5)
    filters: list[CorrelationRuleFilter | SqlRuleFilter] = [
        CorrelationRuleFilter(label="l", properties=_VALUES),
        SqlRuleFilter("color = @color", {"@color": "red"}),
        TrueRuleFilter(),
        FalseRuleFilter(),
    ]
    for number, each in enumerate(filters):
        action = SqlRuleAction("SET sys.To = 'here'") if number == 0 else None
        await admin.create_rule("events", "all", f"r{number}", filter=each, action=action)
    listed: dict[str, Any] = {rule.name: rule async for rule in admin.list_rules("events", "all")}
    assert list(listed) == ["$Default", "r0", "r1", "r2", "r3"]
    assert listed["r0"].filter.label == "l"
    assert listed["r0"].filter.properties == _VALUES
    assert listed["r0"].action.sql_expression == "SET sys.To = 'here'"
    assert listed["r1"].filter.sql_expression == "color = @color"
    assert listed["r1"].filter.parameters == {"@color": "red"}
    assert isinstance(listed["r2"].filter, TrueRuleFilter)
    assert isinstance(listed["r3"].filter, FalseRuleFilter)
    await admin.delete_rule("events", "all", "$Default")
    assert list(bus.entities.subscription("events", "all").rules) == ["r0", "r1", "r2", "r3"]
    counts = await admin.get_topic_runtime_properties("events")
    assert (counts.subscription_count, counts.sql_filter_count) == (1, 1)
    assert counts.correlation_filter_count == 1
    await admin.delete_topic("events")
    assert bus.entities.source("events/Subscriptions/all") is None


async def test_topics_subscriptions_and_rules_are_changed(
    bus: LocalServiceBus, admin: ServiceBusAdministrationClient
) -> None:
    topic = await admin.create_topic("events")
    subscription = await admin.create_subscription("events", "all")
    topic.status = EntityStatus.SEND_DISABLED
    await admin.update_topic(topic)
    subscription.max_delivery_count = 7
    await admin.update_subscription("events", subscription)
    rule = await admin.get_rule("events", "all", "$Default")
    rule.filter = FalseRuleFilter()
    await admin.update_rule("events", "all", rule)
    assert bus.entities.topic("events").properties.status == "SendDisabled"
    changed = bus.entities.subscription("events", "all")
    assert changed.queue.properties.max_delivery_count == 7
    assert changed.rules["$Default"].filter == FalseFilter()
    assert (await admin.get_subscription("events", "all")).max_delivery_count == 7
    assert [each.name async for each in admin.list_subscriptions("events")] == ["all"]
    await admin.delete_subscription("events", "all")
    with pytest.raises(ResourceNotFoundError):
        await admin.get_subscription("events", "all")
    with pytest.raises(ResourceNotFoundError):
        await admin.get_rule("events", "all", "$Default")


async def test_counts_are_those_of_the_moment(
    bus: LocalServiceBus, admin: ServiceBusAdministrationClient
) -> None:
    now, queue = bus.clock.now(), bus.queue("orders")
    content = WireContent.parse(section(DATA, b"\xa0\x01x"), bus.clock)
    queue.send([content] * 3 + [replace(content, scheduled_for=now + 100)], now)
    tokens = []
    for _ in range(3):
        message = queue.receive(now)
        assert message is not None
        assert message.lock is not None
        tokens.append(message.lock.token)
    queue.defer(tokens[0], now)
    queue.dead_letter(tokens[1], "reason", "description", now)
    counts = await admin.get_queue_runtime_properties("orders")
    assert (counts.active_message_count, counts.dead_letter_message_count) == (1, 1)
    assert (counts.scheduled_message_count, counts.total_message_count) == (1, 4)
    assert counts.size_in_bytes == 4 * content.size


async def test_lists_come_in_pages(admin: ServiceBusAdministrationClient) -> None:
    for number in range(5):
        await admin.create_queue(f"queue{number}")
    names = [queue.name async for queue in admin.list_queues(max_page_size=2)]
    assert names == ["orders", "expiring", *(f"queue{number}" for number in range(5))]
    assert [topic.name async for topic in admin.list_topics()] == []


async def test_the_namespace_names_itself(admin: ServiceBusAdministrationClient) -> None:
    properties = await admin.get_namespace_properties()
    assert properties.messaging_sku == "Standard"


async def test_what_cannot_be_is_refused(admin: ServiceBusAdministrationClient) -> None:
    with pytest.raises(ResourceExistsError):
        await admin.create_queue("orders")
    with pytest.raises(ResourceNotFoundError):
        await admin.create_subscription("missing", "all")
    await admin.create_topic("events")
    await admin.create_subscription("events", "all")
    with pytest.raises(HttpResponseError, match="syntax error"):
        await admin.create_rule("events", "all", "r", filter=SqlRuleFilter("a ="))
    with pytest.raises(ResourceExistsError):
        await admin.create_rule("events", "all", "$Default", filter=TrueRuleFilter())
    queue = await admin.get_queue("orders")
    queue.requires_session = True
    with pytest.raises(HttpResponseError, match="requires_session cannot be changed"):
        await admin.update_queue(queue)


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({"lock_duration": "PT10M"}, "LockDuration: PT10M is not within PT5S to PT5M"),
        ({"lock_duration": "PT4S"}, "LockDuration: PT4S is not within PT5S to PT5M"),
        ({"max_delivery_count": 0}, "MaxDeliveryCount: 0 is not 1 or more"),
        ({"max_size_in_megabytes": 7}, "MaxSizeInMegabytes: 7 is not within 1024 to 5120"),
        ({"max_size_in_megabytes": 5121}, "MaxSizeInMegabytes: 5121 is not within"),
        ({"max_message_size_in_kilobytes": 1024}, "MaxMessageSizeInKilobytes: '1024' is not 256"),
        (
            {"duplicate_detection_history_time_window": "PT19S"},
            "DuplicateDetectionHistoryTimeWindow: PT19S is not within PT20S to P7D",
        ),
        ({"default_message_time_to_live": "PT0.5S"}, "PT0.5S is not PT1S or more"),
        ({"auto_delete_on_idle": "PT4M"}, "AutoDeleteOnIdle: PT4M is not PT5M or more"),
        ({"user_metadata": "x" * 1025}, "UserMetadata: 1025 characters are more than 1024"),
        ({"status": "Asleep"}, "Status: 'Asleep' is none of Active"),
        ({"forward_to": "missing"}, "forward_to: there is no 'missing' to forward to"),
        ({"forward_to": "fresh"}, "forward_to: 'fresh' cannot forward to itself"),
        ({"forward_to": "orders", "requires_session": True}, "requires sessions cannot forward"),
        ({"enable_partitioning": True}, "EnablePartitioning is not emulated"),
    ],
)
async def test_a_queue_that_cannot_be_is_refused(
    bus: LocalServiceBus,
    admin: ServiceBusAdministrationClient,
    properties: dict[str, Any],
    told: str,
) -> None:
    with pytest.raises(HttpResponseError, match=told) as refused:
        await admin.create_queue("fresh", **properties)
    assert refused.value.status_code == (501 if "emulated" in told else 400)
    assert bus.entities.source("fresh") is None


@pytest.mark.parametrize("name", ["a!", "a/subscriptions", "x" * 261])
async def test_a_name_that_cannot_be_is_refused(
    admin: ServiceBusAdministrationClient, name: str
) -> None:
    with pytest.raises(HttpResponseError, match="is no name of a queue or topic"):
        await admin.create_queue(name)


async def test_what_is_outside_of_the_services_limits_may_stay_as_it_is(
    bus: LocalServiceBus, admin: ServiceBusAdministrationClient
) -> None:
    queue = await admin.get_queue("orders")
    assert queue.max_size_in_megabytes == 100
    queue.max_delivery_count = 7
    await admin.update_queue(queue)
    assert bus.queue("orders").properties.max_delivery_count == 7
    queue.max_size_in_megabytes = 101
    with pytest.raises(HttpResponseError, match="MaxSizeInMegabytes: 101 is not within"):
        await admin.update_queue(queue)


async def test_a_number_of_a_rule_has_the_bits_of_its_type(
    admin: ServiceBusAdministrationClient,
) -> None:
    await admin.create_topic("events")
    await admin.create_subscription("events", "all")
    wide = CorrelationRuleFilter(properties={"a": 2**63})
    with pytest.raises(HttpResponseError, match="has more than 64 bits"):
        await admin.create_rule("events", "all", "r", filter=wide)


async def test_another_key_is_not_let_in(bus: LocalServiceBus, url: str) -> None:
    async with administrator(bus, url, key="another") as client:
        with pytest.raises(ClientAuthenticationError):
            await client.get_queue("orders")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "not XML"),
        (b"<a/>", "no content"),
        (b"<!DOCTYPE a><a/>", "document type"),
        (
            b'<entry xmlns="http://www.w3.org/2005/Atom"><content><Other/></content></entry>',
            "A QueueDescription is needed",
        ),
    ],
)
async def test_a_body_that_is_no_description_is_refused(
    bus: LocalServiceBus, url: str, body: bytes, told: str
) -> None:
    async with (
        ClientSession(headers=_authorized()) as session,
        session.put(f"{url}/fresh", data=body) as answer,
    ):
        assert answer.status == 400
        assert told in await answer.text()
    assert bus.entities.source("fresh") is None


def _authorized() -> dict[str, str]:
    token = b".".join(base64.b64encode(json.dumps(part).encode()) for part in ({}, {"exp": 9e9}))
    return {"Authorization": f"Bearer {token.decode()}."}


@pytest.mark.parametrize("page", [{"$skip": "9" * 5000}, {"$top": "-1"}, {"$skip": "x"}])
async def test_a_page_that_cannot_be_is_refused(url: str, page: dict[str, str]) -> None:
    async with (
        ClientSession(headers=_authorized()) as session,
        session.get(f"{url}/$Resources/queues", params=page) as answer,
    ):
        assert answer.status == 400
