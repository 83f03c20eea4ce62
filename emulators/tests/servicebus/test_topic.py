"""What topics, rules and forwarding do, by themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from emulators.tests.servicebus.test_queue import Note
from local_azure.events import EventLog
from local_azure.servicebus import (
    Action,
    CorrelationFilter,
    FalseFilter,
    QueueProperties,
    Rule,
    SqlFilter,
    SubscriptionProperties,
    TopicProperties,
)
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.entities import Entities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_azure.servicebus.broker.message import Message


def entities_of(
    queues: Mapping[str, QueueProperties] | None = None, **subscriptions: SubscriptionProperties
) -> Entities[Note]:
    entities: Entities[Note] = Entities(EventLog())
    for name, properties in (queues or {}).items():
        entities.create_queue(name, properties)
    entities.create_topic("events", TopicProperties(subscriptions=subscriptions))
    return entities


def messages_in(entities: Entities[Note], path: str) -> tuple[Message[Note], ...]:
    queue = entities.source(path)
    assert queue is not None
    return queue.messages


def ids_in(entities: Entities[Note], path: str) -> list[str | None]:
    return [message.message_id for message in messages_in(entities, path)]


def test_each_subscription_gets_what_its_rules_choose() -> None:
    red = Rule(filter=CorrelationFilter(user={"color": "red"}))
    big = Rule(filter=SqlFilter(expression="size > 5"))
    entities = entities_of(
        all=SubscriptionProperties(),
        none=SubscriptionProperties(rules={"no": Rule(filter=FalseFilter())}),
        either=SubscriptionProperties(rules={"red": red, "big": big}),
    )
    notes = [
        Note("1", properties={"color": "red", "size": 9}),
        Note("2", properties={"color": "blue", "size": 9}),
        Note("3", properties={"color": "blue", "size": 1}),
        Note("4"),
    ]
    entities.topic("events").send(notes, 0)
    assert ids_in(entities, "events/Subscriptions/all") == ["1", "2", "3", "4"]
    assert ids_in(entities, "events/Subscriptions/none") == []
    assert ids_in(entities, "events/subscriptions/either") == ["1", "2"]
    assert entities.topic("events").messages == ()


def test_a_rule_with_an_action_makes_a_copy_of_its_own() -> None:
    label = Rule(action=Action(expression="SET color = 'green'; REMOVE size; SET n = size + 1"))
    entities = entities_of(sub=SubscriptionProperties(rules={"plain": Rule(), "label": label}))
    entities.topic("events").send([Note(properties={"color": "red", "size": 1})], 0)
    plain, changed = messages_in(entities, "events/Subscriptions/sub")
    assert plain.content.properties == {"color": "red", "size": 1}
    assert changed.content.properties == {
        "color": "green",
        "size": None,
        "n": None,
        "RuleName": "label",
    }


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_rule_cannot_judge_is_a_dead_letter_if_so_configured(kept: bool) -> None:
    rule = Rule(filter=SqlFilter(expression="color > 5"))
    entities = entities_of(
        sub=SubscriptionProperties(
            rules={"r": rule}, dead_lettering_on_filter_evaluation_exceptions=kept
        )
    )
    entities.topic("events").send([Note(properties={"color": "red"})], 0)
    assert len(messages_in(entities, "events/Subscriptions/sub/$DeadLetterQueue")) == kept


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("SET sys.MessageId = long", "com.microsoft:argument-error"),
        ("SET copy = long + long", "HeaderSizeExceeded"),
        ("REMOVE sys.SessionId", "Session ID is null."),
    ],
)
def test_a_copy_that_a_subscription_cannot_take_is_its_dead_letter(
    action: str, reason: str
) -> None:
    rules = {"r": Rule(action=Action(expression=action))}
    entities = entities_of(
        picky=SubscriptionProperties(requires_session=True, rules=rules),
        plain=SubscriptionProperties(),
    )
    note = Note(session_id="s", properties_size=65_000, properties={"long": "x" * 300})
    entities.topic("events").send([note, replace(note, scheduled_for=10)], 0)
    entities.topic("events").expire(10)
    assert len(messages_in(entities, "events/Subscriptions/plain")) == 2
    assert ids_in(entities, "events/Subscriptions/picky") == []
    buried = messages_in(entities, "events/Subscriptions/picky/$DeadLetterQueue")
    assert [each.dead_letter and each.dead_letter.reason for each in buried] == [reason] * 2


def test_a_subscription_with_sessions_buries_messages_without() -> None:
    entities = entities_of(sub=SubscriptionProperties(requires_session=True))
    entities.topic("events").send([Note("1"), Note("2", session_id="s")], 0)
    assert ids_in(entities, "events/Subscriptions/sub") == ["2"]
    (buried,) = messages_in(entities, "events/Subscriptions/sub/$DeadLetterQueue")
    assert buried.dead_letter is not None
    assert buried.dead_letter.reason == "Session ID is null."


def test_a_topic_keeps_what_is_scheduled_and_detects_duplicates() -> None:
    entities: Entities[Note] = Entities(EventLog())
    entities.create_topic(
        "events",
        TopicProperties(
            requires_duplicate_detection=True, subscriptions={"sub": SubscriptionProperties()}
        ),
    )
    topic = entities.topic("events")
    topic.send([Note("1", scheduled_for=10), Note("1"), Note("2")], 0)
    assert ids_in(entities, "events/Subscriptions/sub") == ["2"]
    assert topic.scheduled_count == 1
    topic.expire(10)
    assert ids_in(entities, "events/Subscriptions/sub") == ["2", "1"]


def test_a_lifetime_is_the_shortest_of_message_topic_and_subscription() -> None:
    short = SubscriptionProperties(default_message_time_to_live=timedelta(seconds=50))
    entities = entities_of(short=short, long=SubscriptionProperties())
    entities.topic("events").send([Note("1"), Note("2", time_to_live=20)], 0)
    ends = [message.expires_at for message in messages_in(entities, "events/Subscriptions/short")]
    assert ends == [50, 20]
    ends = [message.expires_at for message in messages_in(entities, "events/Subscriptions/long")]
    assert ends == [3600, 20]


def test_the_messages_of_its_subscriptions_fill_a_topic() -> None:
    entities = entities_of(a=SubscriptionProperties(), b=SubscriptionProperties())
    topic = entities.topic("events")
    topic.send([Note(size=60 * 1024 * 1024)], 0)
    with pytest.raises(AmqpError, match="resource-limit-exceeded"):
        topic.send([Note()], 0)


def test_a_subscription_has_the_room_of_its_topic() -> None:
    entities = entities_of()
    entities.create_topic(
        "large",
        TopicProperties(
            max_size_in_megabytes=200,
            subscriptions={"sub": SubscriptionProperties(max_size_in_megabytes=1)},
        ),
    )
    notes = [Note(str(number), size=90 * 1024 * 1024) for number in range(2)]
    entities.topic("large").send(notes, 0)
    assert ids_in(entities, "large/Subscriptions/sub") == ["0", "1"]


# ---------------------------------------------------------------- forwarding


def test_a_queue_forwards_to_another_entity() -> None:
    queues = {"in": QueueProperties(forward_to="EVENTS")}
    entities = entities_of(queues, sub=SubscriptionProperties(forward_to="end"))
    entities.create_queue("end", QueueProperties())
    entities.queues["in"].send([Note("0", scheduled_for=10), Note("1")], 0)
    assert ids_in(entities, "end") == ["1"]
    (message,) = messages_in(entities, "end")
    assert message.hops == 2
    entities.queues["in"].expire(10)
    assert ids_in(entities, "end") == ["1", "0"]
    assert ids_in(entities, "in") == []


def test_what_expires_on_its_way_round_is_in_one_place() -> None:
    queues = {"a": QueueProperties(forward_to="b"), "b": QueueProperties(forward_to="a")}
    entities = entities_of(queues)
    entities.queues["a"].send([Note(time_to_live=0)], 0)
    ids = [name for queue in entities for name in [m.message_id for m in queue.messages]]
    assert ids == ["m"]


def test_dead_letters_are_forwarded_with_their_reason() -> None:
    queues = {
        "in": QueueProperties(forward_dead_lettered_messages_to="errors", max_delivery_count=1),
        "errors": QueueProperties(),
    }
    entities = entities_of(queues)
    source = entities.queues["in"]
    source.send([Note()], 0)
    message = source.receive(0)
    assert message is not None
    assert message.lock is not None
    source.abandon(message.lock.token, 0)
    (forwarded,) = messages_in(entities, "errors")
    assert forwarded.dead_letter is not None
    assert forwarded.dead_letter.reason == "MaxDeliveryCountExceeded"
    assert (source.dead_letter_count, forwarded.delivery_count) == (0, 0)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("missing", "amqp:not-found"),
        ("closed", "com.microsoft:entity-disabled"),
        ("in", "MaxTransferHopCountExceeded"),
    ],
)
def test_what_cannot_be_forwarded_is_a_dead_letter_of_the_transfer(
    target: str, reason: str
) -> None:
    queues = {
        "in": QueueProperties(forward_to=target),
        "closed": QueueProperties(status="SendDisabled"),
    }
    entities = entities_of(queues)
    entities.queues["in"].send([Note()], 0)
    (buried,) = messages_in(entities, "in/$Transfer/$DeadLetterQueue")
    assert buried.dead_letter is not None
    assert buried.dead_letter.reason == reason
    assert ids_in(entities, "in") == []


def test_dead_letters_that_cannot_be_forwarded_stay() -> None:
    properties = QueueProperties(
        forward_dead_lettered_messages_to="missing", dead_lettering_on_message_expiration=True
    )
    entities = entities_of({"in": properties})
    entities.queues["in"].send([Note(time_to_live=1)], 0)
    entities.queues["in"].expire(1)
    assert len(messages_in(entities, "in/$DeadLetterQueue")) == 1


# ---------------------------------------------------------------- entities


def test_entities_are_found_whatever_the_case() -> None:
    entities = entities_of({"Orders": QueueProperties()}, sub=SubscriptionProperties())
    for path in ("orders", "ORDERS/$deadletterqueue", "events/SUBSCRIPTIONS/Sub"):
        assert entities.source(path) is not None
    assert entities.target("EVENTS") is not None
    assert entities.source("events") is None
    assert entities.target("events/Subscriptions/sub") is None


def test_a_name_is_given_once() -> None:
    entities = entities_of({"orders": QueueProperties()}, sub=SubscriptionProperties())
    with pytest.raises(AmqpError, match="already-exists"):
        entities.create_topic("Orders", TopicProperties())
    with pytest.raises(AmqpError, match="already-exists"):
        entities.create_subscription("events", "SUB", SubscriptionProperties())


def test_what_is_deleted_is_gone_and_told_of() -> None:
    entities = entities_of({"orders": QueueProperties()}, sub=SubscriptionProperties())
    gone: list[str] = []
    entities.on_deleted = lambda entity: gone.append(entity.name)
    entities.delete("events")
    entities.delete("orders")
    assert gone == [
        *(f"events/Subscriptions/sub{tail}" for tail in ("", "/$DeadLetterQueue")),
        "events/Subscriptions/sub/$Transfer/$DeadLetterQueue",
        "events",
        *(f"orders{tail}" for tail in ("", "/$DeadLetterQueue", "/$Transfer/$DeadLetterQueue")),
    ]
    assert list(entities) == []
    with pytest.raises(AmqpError, match="not-found"):
        entities.delete("orders")
