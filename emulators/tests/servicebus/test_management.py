"""The ``$management`` node, asked by hand for what Microsoft's Python client does not ask."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from emulators.tests.servicebus.peer import PAYLOAD, Peer, connected
from emulators.tests.servicebus.requests_by_hand import Answer, answer, ask, open_node
from local_azure.faults import Lapse
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
from local_azure.servicebus.amqp.performatives import Attach
from local_azure.servicebus.amqp.types import (
    Array,
    Described,
    Int,
    Long,
    Symbol,
    Timestamp,
    UInt,
    ULong,
)
from local_azure.servicebus.nodes.content import WireContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.servicebus.nodes.queues import LocksOnConnectionLoss

_SUBSCRIPTION = "events/Subscriptions/all"
_EVER = Timestamp(253_402_300_800_000)
_FIRST: dict[str, Any] = {"sequence_numbers": Array([Long(1)])}


class Asker:
    """Asks the node of one entity."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def __call__(self, operation: str, *, link: str = "", **body: object) -> Answer:
        named = {name.replace("_", "-"): value for name, value in body.items()}
        properties = {"operation": f"com.microsoft:{operation}", "associated-link-name": link}
        ask(self._peer, named, **properties)
        return await answer(self._peer)


@pytest.fixture
async def bus() -> AsyncIterator[LocalServiceBus]:
    queues = {"orders": QueueProperties(), "sessions": QueueProperties(requires_session=True)}
    topic = TopicProperties(subscriptions={"all": SubscriptionProperties()})
    async with LocalServiceBus(queues, topics={"events": topic}) as bus:
        yield bus


@asynccontextmanager
async def asking(
    bus: LocalServiceBus, entity: str, session_id: str | None = None
) -> AsyncIterator[Asker]:
    """Asks an entity's node, as the receiver ``link`` of a session if one is given."""
    async with connected(bus) as peer:
        await peer.authenticate()
        await peer.begin()
        if session_id is not None:
            chosen = {Symbol("com.microsoft:session-filter"): session_id}
            source = Described(ULong(0x28), [entity, *[None] * 6, chosen])
            peer.send(Attach(name="link", handle=UInt(0), role=True, source=source))
            assert (await peer.expect(Attach)).source is not None
        await open_node(peer, f"{entity}/$management")
        yield Asker(peer)


def put(bus: LocalServiceBus, queue: str, *payloads: bytes) -> None:
    contents = [WireContent.parse(payload, bus.clock) for payload in payloads]
    bus.queue(queue).send(contents, bus.clock.now())


def put_deferred(bus: LocalServiceBus) -> None:
    """Puts a message into ``orders`` that is received by its number, 1."""
    put(bus, "orders", section(PROPERTIES, encode(["m"])) + PAYLOAD)
    queue, now = bus.queue("orders"), bus.clock.now()
    message = queue.receive(now)
    assert message is not None
    assert message.lock is not None
    queue.defer(message.lock.token, now)


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


async def test_a_rule_from_python_is_listed_with_values_that_can_be_sent(
    bus: LocalServiceBus,
) -> None:
    values = {"n": 1, "yes": True, "time": timedelta(minutes=1)}
    rules = bus.entities.subscription("events", "all").rules
    rules["$Default"] = Rule(filter=CorrelationFilter(user=values))
    async with asking(bus, _SUBSCRIPTION) as request:
        listed = await request("enumerate-rules", skip=Int(0), top=Int(1))
    (rule,) = listed.value["rules"]
    user = rule["rule-description"].value[0].value[-1]
    assert user == {"n": 1, "yes": True, "time": "0:01:00"}


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


async def test_a_rule_needs_a_name_that_is_one(bus: LocalServiceBus) -> None:
    async with asking(bus, _SUBSCRIPTION) as request:
        refused = await request("add-rule", rule_name="", rule_description={"true-filter": {}})
    assert refused.status["errorCondition"] == "com.microsoft:argument-error"


async def test_as_many_messages_are_shown_as_fit_into_one(bus: LocalServiceBus) -> None:
    put(bus, "orders", *([section(DATA, encode(bytes(100_000)))] * 4))
    async with asking(bus, "orders") as request:
        shown = await request("peek-message", from_sequence_number=Long(2), message_count=Int(9))
        assert len(shown.value["messages"]) == 2
        shown = await request(
            "peek-message", from_sequence_number=Long(4), message_count=ULong(2**64 - 1)
        )
        assert len(shown.value["messages"]) == 1


async def test_a_deferred_message_may_be_received_for_good(bus: LocalServiceBus) -> None:
    put_deferred(bus)
    async with asking(bus, "orders") as request:
        got = await request("receive-by-sequence-number", **_FIRST, receiver_settle_mode=UInt(0))
    (received,) = got.value["messages"]
    assert list(received) == ["message"]
    assert bus.queue("orders").messages == ()


@pytest.mark.parametrize("kept", ["keep", "drop"])
async def test_locks_of_deferred_messages_may_be_dropped_with_the_connection(
    kept: LocksOnConnectionLoss,
) -> None:
    queues = {"orders": QueueProperties()}
    async with LocalServiceBus(queues, locks_on_connection_loss=kept) as bus:
        put_deferred(bus)
        async with asking(bus, "orders") as request:
            await request("receive-by-sequence-number", **_FIRST, receiver_settle_mode=UInt(1))
            assert bus.queue("orders").locked_count == 1
        await asyncio.sleep(0.02)
        assert bus.queue("orders").locked_count == (kept == "keep")


_ON_A_SESSION: list[tuple[str, dict[str, object]]] = [
    ("renew-session-lock", {}),
    ("get-session-state", {}),
    ("set-session-state", {"session_state": b"x"}),
    ("receive-by-sequence-number", {**_FIRST, "receiver_settle_mode": UInt(1)}),
]


@pytest.mark.parametrize(("operation", "body"), _ON_A_SESSION)
async def test_a_session_is_for_the_receiver_that_has_locked_it(
    bus: LocalServiceBus, operation: str, body: dict[str, Any]
) -> None:
    async with (
        asking(bus, "sessions", session_id="s") as holder,
        asking(bus, "sessions", session_id="t") as other,
    ):
        for request, link in ((other, ""), (other, "link"), (holder, "left")):
            refused = await request(operation, link=link, session_id="s", **body)
            assert refused.status["statusCode"] == 410
            assert refused.status["errorCondition"] == "com.microsoft:session-lock-lost"
        for link in ("", "link"):
            done = await holder(operation, link=link, session_id="s", **body)
            assert done.status.get("errorCondition") in (None, "com.microsoft:message-not-found")


@pytest.mark.parametrize(("operation", "body"), _ON_A_SESSION[:3])
async def test_the_lock_of_a_session_lapses_just_before_it_is_relied_on(
    bus: LocalServiceBus, operation: str, body: dict[str, Any]
) -> None:
    fault = bus.faults.add(Lapse(), operation=operation)
    async with asking(bus, "sessions") as other:
        await other(operation, session_id="s", **body)
        assert fault.hits == 0
    async with asking(bus, "sessions", session_id="s") as request:
        refused = await request(operation, session_id="s", **body)
    assert refused.status["errorCondition"] == "com.microsoft:session-lock-lost"
    assert fault.hits == 1


@pytest.mark.parametrize(
    ("operation", "name", "body"),
    [
        ("renew-lock", "renew", {}),
        ("update-disposition", "complete", {"disposition_status": "completed"}),
        ("update-disposition", "abandon", {"disposition_status": "abandoned"}),
        ("update-disposition", "defer", {"disposition_status": "defered"}),
        ("update-disposition", "dead_letter", {"disposition_status": "suspended"}),
    ],
)
async def test_the_lock_of_a_message_lapses_just_before_it_is_relied_on(
    bus: LocalServiceBus, operation: str, name: str, body: dict[str, Any]
) -> None:
    put_deferred(bus)
    fault = bus.faults.add(Lapse(), operation=name, key="m")
    async with asking(bus, "orders") as request:
        mode = UInt(1)
        got = await request("receive-by-sequence-number", **_FIRST, receiver_settle_mode=mode)
        tokens = Array([got.value["messages"][0]["lock-token"]])
        refused = await request(operation, lock_tokens=tokens, **body)
    assert refused.status["errorCondition"] == "com.microsoft:message-lock-lost"
    assert fault.hits == 1
    assert bus.events.of("lock_expired", key="m")


async def test_a_lapse_strikes_only_where_something_can_lapse(bus: LocalServiceBus) -> None:
    fault = bus.faults.add(Lapse())
    async with asking(bus, "orders") as request:
        await request("peek-message", from_sequence_number=Long(0), message_count=Int(1))
        await request("schedule-message", messages=[{"message": PAYLOAD}])
        await request("renew-lock", lock_tokens=Array([uuid4()]))
    assert fault.hits == 0


async def test_duplicate_detection_forgets_what_is_scheduled_on_order() -> None:
    queues = {"orders": QueueProperties(requires_duplicate_detection=True)}
    one, two = (section(PROPERTIES, encode([name])) + PAYLOAD for name in ("m", "n"))
    async with LocalServiceBus(queues) as bus, asking(bus, "orders") as request:
        put(bus, "orders", one, two)
        bus.faults.add(Lapse(), operation="schedule-message", key="n")
        entries = [{"message": one}, {"message": two}]
        scheduled = await request("schedule-message", messages=entries)
    assert scheduled.value == {"sequence-numbers": [3, 4]}


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
    bus: LocalServiceBus, operation: str, body: dict[str, Any]
) -> None:
    async with asking(bus, "orders") as request:
        assert (await request(operation, **body)).status["statusCode"] == 400
