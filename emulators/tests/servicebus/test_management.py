"""The ``$management`` node, asked by hand for what Microsoft's Python client does not ask."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from emulators.tests.servicebus.requests_by_hand import Answer, answer, ask, open_node
from local_azure.servicebus import (
    Action,
    CorrelationFilter,
    FalseFilter,
    LocalServiceBus,
    QueueProperties,
    Rule,
    SqlFilter,
    SubscriptionProperties,
    TopicProperties,
    TrueFilter,
)
from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.message import DATA, PROPERTIES, section
from local_azure.servicebus.amqp.types import Array, Int, Long, Symbol, Timestamp, UInt
from local_azure.servicebus.content import WireContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_SUBSCRIPTION = "events/Subscriptions/all"
_EVER = Timestamp(253_402_300_800_000)


class Asker:
    """Asks the node of one entity."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def __call__(self, operation: str, **body: object) -> Answer:
        named = {name.replace("_", "-"): value for name, value in body.items()}
        ask(self._peer, named, operation=f"com.microsoft:{operation}")
        return await answer(self._peer)


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    queues = {"orders": QueueProperties(), "sessions": QueueProperties(requires_session=True)}
    topic = TopicProperties(subscriptions={"all": SubscriptionProperties()})
    async with LocalServiceBus(queues, topics={"events": topic}) as bus:
        yield bus


@asynccontextmanager
async def asking(bus: LocalServiceBus, entity: str) -> AsyncIterator[Asker]:
    async with connected(bus) as peer:
        await peer.authenticate()
        await peer.begin()
        await open_node(peer, f"{entity}/$management")
        yield Asker(peer)


def put(bus: LocalServiceBus, queue: str, *payloads: bytes) -> None:
    contents = [WireContent.parse(payload, bus.clock) for payload in payloads]
    bus.queue(queue).send(contents, bus.clock.now())


async def test_rules_come_are_listed_and_go(bus: LocalServiceBus) -> None:
    descriptions: list[dict[str, Any]] = [
        {"sql-filter": {"expression": "a = 1"}, "sql-rule-action": {"expression": "SET b = 2"}},
        {"correlation-filter": {"label": "l", "properties": {"p": "v"}}},
        {"true-filter": {}},
        {"false-filter": {}},
    ]
    async with asking(bus, _SUBSCRIPTION) as request:
        for number, description in enumerate(descriptions):
            added = await request("add-rule", rule_name=f"r{number}", rule_description=description)
            assert added.status["statusCode"] == 200
        again = await request("add-rule", rule_name="r0", rule_description={"true-filter": {}})
        assert again.status["errorCondition"] == "com.microsoft:entity-already-exists"
        removed = await request("remove-rule", rule_name="$Default")
        assert removed.status["statusCode"] == 200
        missing = await request("remove-rule", rule_name="$Default")
        assert missing.status["statusCode"] == 404
        first = await request("enumerate-rules", skip=Int(0), top=Int(3))
        last = await request("enumerate-rules", skip=Int(3), top=Int(3))
        none = await request("enumerate-rules", skip=Int(4), top=Int(3))
    assert bus.entities.subscription("events", "all").rules == {
        "r0": Rule(filter=SqlFilter(expression="a = 1"), action=Action(expression="SET b = 2")),
        "r1": Rule(filter=CorrelationFilter(system={"Label": "l"}, user={"p": "v"})),
        "r2": Rule(filter=TrueFilter()),
        "r3": Rule(filter=FalseFilter()),
    }
    listed = [each["rule-description"] for each in (*first.value["rules"], *last.value["rules"])]
    assert {rule.descriptor for rule in listed} == {0x13700000004}
    assert [rule.value[2] for rule in listed] == ["r0", "r1", "r2", "r3"]
    assert [rule.value[0].descriptor for rule in listed] == [
        0x1370000006,
        0x1370000009,
        0x1370000007,
        0x1370000008,
    ]
    assert listed[0].value[1].value[0] == "SET b = 2"
    assert listed[1].value[0].value == [None, None, None, None, "l", None, None, None, {"p": "v"}]
    assert none.status["statusCode"] == 204


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"sql-filter": {"expression": "a ="}},
        {"sql-filter": {}},
        {"correlation-filter": {}},
        {"true-filter": {}, "false-filter": {}},
        {"true-filter": {}, "sql-rule-action": {"expression": "jump"}},
    ],
)
async def test_a_rule_that_cannot_be_is_refused(
    bus: LocalServiceBus, description: dict[str, object]
) -> None:
    async with asking(bus, _SUBSCRIPTION) as request:
        refused = await request("add-rule", rule_name="r", rule_description=description)
    assert refused.status["statusCode"] == 400
    assert list(bus.entities.subscription("events", "all").rules) == ["$Default"]


@pytest.mark.parametrize(
    ("entity", "operation"),
    [
        ("orders", "add-rule"),
        ("orders", "get-session-state"),
        ("events", "renew-lock"),
        ("events", "enumerate-rules"),
    ],
)
async def test_an_entity_does_what_its_kind_does(
    bus: LocalServiceBus, entity: str, operation: str
) -> None:
    async with asking(bus, entity) as request:
        refused = await request(operation)
    assert refused.status["errorCondition"] == "amqp:not-allowed"


async def test_sessions_are_listed_in_pages(bus: LocalServiceBus) -> None:
    names = ["a", "b", "c"]
    put(
        bus,
        "sessions",
        *(section(PROPERTIES, encode([None] * 10 + [name])) + PAYLOAD for name in names),
    )
    async with asking(bus, "sessions") as request:
        page = await request(
            "get-message-sessions", last_updated_time=_EVER, skip=Int(1), top=Int(1)
        )
        assert page.value == {"skip": 2, "sessions-ids": ["b"]}
        none = await request(
            "get-message-sessions", last_updated_time=_EVER, skip=Int(3), top=Int(1)
        )
        assert none.status["statusCode"] == 204


async def test_as_many_messages_are_shown_as_fit_into_one(bus: LocalServiceBus) -> None:
    put(bus, "orders", *([section(DATA, encode(bytes(100_000)))] * 4))
    async with asking(bus, "orders") as request:
        shown = await request("peek-message", from_sequence_number=Long(2), message_count=Int(9))
    assert len(shown.value["messages"]) == 2


async def test_a_deferred_message_may_be_received_for_good(bus: LocalServiceBus) -> None:
    put(bus, "orders", PAYLOAD)
    queue, now = bus.queue("orders"), bus.clock.now()
    message = queue.receive(now)
    assert message is not None
    assert message.lock is not None
    queue.defer(message.lock.token, now)
    async with asking(bus, "orders") as request:
        got = await request(
            "receive-by-sequence-number",
            sequence_numbers=Array([Long(1)]),
            receiver_settle_mode=UInt(0),
        )
    (received,) = got.value["messages"]
    assert list(received) == ["message"]
    assert queue.messages == ()


async def test_properties_may_be_changed_with_a_disposition(bus: LocalServiceBus) -> None:
    put(bus, "orders", PAYLOAD)
    message = bus.queue("orders").receive(bus.clock.now())
    assert message is not None
    assert message.lock is not None
    async with asking(bus, "orders") as request:
        await request(
            "update-disposition",
            disposition_status="abandoned",
            lock_tokens=Array([message.lock.token]),
            properties_to_modify={"tries": Long(1)},
        )
    assert message.content.application_properties == {"tries": 1}


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("peek-message", {}),
        ("peek-message", {"from_sequence_number": Long(0), "message_count": Int(-1)}),
        ("peek-message", {"from_sequence_number": True, "message_count": Int(1)}),
        ("schedule-message", {}),
        ("schedule-message", {"messages": [{"message": "text"}]}),
        ("schedule-message", {"messages": [{"message": b"junk"}]}),
        ("cancel-scheduled-message", {"sequence_numbers": Array([Symbol("x")])}),
        ("receive-by-sequence-number", {"sequence_numbers": Array([Long(1)])}),
    ],
)
async def test_a_body_that_lacks_what_it_needs_is_refused(
    bus: LocalServiceBus, operation: str, body: dict[str, object]
) -> None:
    async with asking(bus, "orders") as request:
        assert (await request(operation, **body)).status["statusCode"] == 400
