"""Config.json: read as Microsoft's emulator reads it; every problem is told at once."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from local_azure.servicebus import (
    Action,
    Config,
    ConfigError,
    CorrelationFilter,
    LocalServiceBus,
    QueueProperties,
    Rule,
    SqlFilter,
    SubscriptionProperties,
    TopicProperties,
    TrueFilter,
)
from local_azure.servicebus.broker.durations import format_duration, parse_duration

if TYPE_CHECKING:
    from pathlib import Path


def _config(*queues: object, **more: object) -> str:
    namespace: dict[str, Any] = {"Name": "sbemulatorns", "Queues": list(queues), **more}
    return json.dumps({"UserConfig": {"Namespaces": [namespace], "Logging": {"Type": "Console"}}})


def _queue(name: str = "orders", **properties: object) -> dict[str, object]:
    return {"Name": name, "Properties": properties}


def test_what_is_left_out_has_the_official_emulators_default() -> None:
    assert Config.parse(_config(_queue())).queues == {"orders": QueueProperties()}


def test_all_properties_are_read() -> None:
    queue = _queue(
        LockDuration="PT30S",
        MaxDeliveryCount=10,
        DefaultMessageTimeToLive="PT10M",
        DeadLetteringOnMessageExpiration=True,
        RequiresDuplicateDetection=True,
        DuplicateDetectionHistoryTimeWindow="PT1M",
        ForwardTo="next",
        ForwardDeadLetteredMessagesTo="",
    )
    session = _queue("next", RequiresSession=True)
    config = Config.parse(_config(queue, session, Topics=[]))
    assert config.queues["orders"] == QueueProperties(
        lock_duration=timedelta(seconds=30),
        max_delivery_count=10,
        default_message_time_to_live=timedelta(minutes=10),
        dead_lettering_on_message_expiration=True,
        requires_duplicate_detection=True,
        duplicate_detection_history_time_window=timedelta(minutes=1),
        forward_to="next",
    )
    assert config.queues["next"].requires_session


def _topic(*rules: dict[str, object], **properties: object) -> dict[str, object]:
    subscription = {"Name": "all", "Properties": properties, "Rules": list(rules)}
    return {"Name": "events", "Properties": {}, "Subscriptions": [subscription]}


def test_a_topic_has_subscriptions_and_these_have_rules() -> None:
    sql = {
        "FilterType": "Sql",
        "SqlFilter": {"SqlExpression": "sys.To = 'a'"},
        "Action": {"SqlExpression": "SET sys.To = 'b'"},
    }
    correlation = {
        "FilterType": "Correlation",
        "CorrelationFilter": {"Label": "l", "Properties": {"color": "red"}},
    }
    rules: list[dict[str, object]] = [
        {"Name": "r1", "Properties": sql},
        {"Name": "r2", "Properties": correlation},
    ]
    config = Config.parse(_config(Topics=[_topic(*rules, MaxDeliveryCount=2)]))
    assert config.topics == {
        "events": TopicProperties(
            subscriptions={
                "all": SubscriptionProperties(
                    max_delivery_count=2,
                    rules={
                        "r1": Rule(
                            filter=SqlFilter(expression="sys.To = 'a'"),
                            action=Action(expression="SET sys.To = 'b'"),
                        ),
                        "r2": Rule(
                            filter=CorrelationFilter(system={"Label": "l"}, user={"color": "red"})
                        ),
                    },
                )
            }
        )
    }


def test_a_subscription_without_rules_gets_every_message() -> None:
    (topic,) = Config.parse(_config(Topics=[_topic()])).topics.values()
    assert topic.subscriptions["all"].rules == {"$Default": Rule(filter=TrueFilter())}


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"FilterType": "Magic"}, "'Magic' is neither 'Sql' nor 'Correlation'"),
        ({"FilterType": "Sql"}, "SqlFilter: SqlExpression is needed"),
        ({"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a ="}}, "syntax error near ''"),
        ({"FilterType": "Correlation"}, "needs at least one property"),
        ({"FilterType": "Correlation", "CorrelationFilter": {"Color": 1}}, "only properties"),
        ({"Filter": "Sql"}, "Filter: no such property"),
    ],
)
def test_a_rule_that_cannot_be_is_named(properties: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.parse(_config(Topics=[_topic({"Name": "r", "Properties": properties})]))
    (told,) = caught.value.problems
    assert told.startswith("topic 'events': subscription 'all': rule 'r': ")
    assert problem in told


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "Config.json"
    path.write_text(_config(_queue()), encoding="utf-8-sig")
    assert list(Config.load(path).queues) == ["orders"]


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"LockDuration": "PT4S"}, "LockDuration: PT4S is not within PT5S to PT5M"),
        ({"LockDuration": "1m"}, "LockDuration: '1m' is no ISO 8601 duration"),
        ({"LockDuration": 60}, "LockDuration: 60 is no ISO 8601 duration"),
        ({"MaxDeliveryCount": 11}, "MaxDeliveryCount: 11 is not within 1 to 10"),
        ({"MaxDeliveryCount": True}, "MaxDeliveryCount: True is no whole number"),
        ({"DefaultMessageTimeToLive": "P1D"}, "P1D is not within PT5M to PT1H"),
        ({"DuplicateDetectionHistoryTimeWindow": "P7D"}, "P7D is not within PT5S to PT5M"),
        ({"RequiresDuplicateDetection": "yes"}, "'yes' is neither true nor false"),
        ({"ForwardTo": 1}, "ForwardTo: 1 is no name"),
        ({"ForwardTo": "other"}, "forward_to: there is no 'other' to forward to"),
        ({"ForwardTo": "ORDERS"}, "forward_to: 'orders' cannot forward to itself"),
        ({"ForwardTo": "sb://[x/a"}, "forward_to: The address is no URL"),
        ({"ForwardTo": "orders", "RequiresSession": True}, "requires sessions cannot forward"),
        ({"LockDuraton": "PT1M"}, "LockDuraton: no such property"),
    ],
)
def test_a_property_that_cannot_be_is_named(properties: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.parse(_config(_queue(**properties)))
    (told,) = caught.value.problems
    assert told.startswith("queue 'orders': ")
    assert problem in told


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"lock_duration": timedelta(0)}, "lock_duration: PT0S is not within PT0.001S to PT5M"),
        ({"lock_duration": timedelta(minutes=6)}, "lock_duration: PT6M is not within"),
        ({"lock_duration": 30}, r"lock_duration: 30 is no duration \(timedelta\)"),
        ({"max_delivery_count": 0}, "max_delivery_count: 0 is not 1 or more"),
        ({"max_size_in_megabytes": 0}, "max_size_in_megabytes: 0 is not 1 or more"),
        ({"default_message_time_to_live": timedelta(0)}, "default_message_time_to_live: PT0S"),
        (
            {"duplicate_detection_history_time_window": timedelta(days=8)},
            "duplicate_detection_history_time_window: P8D is not within PT0.001S to P7D",
        ),
        ({"requires_duplicate_detection": "no"}, "requires_duplicate_detection: 'no' is neither"),
        ({"status": "Asleep"}, "status: 'Asleep' is none of Active, Disabled, SendDisabled"),
        ({"forward_to": 1}, "forward_to: 1 is no name"),
        ({"forward_to": "a", "requires_session": True}, "forward_to: an entity that requires"),
    ],
)
def test_properties_that_no_entity_can_have_are_refused(
    properties: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        SubscriptionProperties(**properties)


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "a b", "$cbs", "a!", ".a", "a/", "a//b", "a/../b", "a/$management", 1),
        *("x" * 261, "a/Subscriptions/b", "a/subscriptions"),
    ],
)
def test_a_name_that_no_queue_or_topic_can_have_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no name of a queue or topic"):
        Config(queues={name: QueueProperties()})
    with pytest.raises(ConfigError, match="is no name of a queue or topic"):
        Config(topics={name: TopicProperties()})


@pytest.mark.parametrize("name", ["", "$management", "a/b", "x" * 51, "a."])
def test_a_name_that_no_subscription_can_have_is_refused(name: str) -> None:
    topic = TopicProperties(subscriptions={name: SubscriptionProperties()})
    with pytest.raises(ConfigError, match="is no name of a subscription"):
        Config(topics={"events": topic})


def test_names_at_their_limits_are_taken() -> None:
    topic = TopicProperties(subscriptions={"s" * 50: SubscriptionProperties()})
    Config(queues={"q" * 260: QueueProperties(), "a/b~c/d_e.f-g": QueueProperties()})
    Config(topics={"subscriptions/a": topic})


@pytest.mark.parametrize(
    ("queues", "subscription", "problem"),
    [
        ({"a": QueueProperties(), "A": QueueProperties()}, {}, "'a' is the name of several"),
        ({"events": QueueProperties()}, {}, "'events' is the name of several"),
        ({"a": QueueProperties(forward_to="b")}, {}, "queue 'a': forward_to: there is no 'b'"),
        ({"a": QueueProperties(forward_to="A")}, {}, "queue 'a': forward_to: 'a' cannot forward"),
        (
            {"a": QueueProperties(forward_dead_lettered_messages_to="sb://host/a")},
            {},
            "queue 'a': forward_dead_lettered_messages_to: 'a' cannot forward to itself",
        ),
        ({}, {"forward_to": "events"}, "subscription 'all': forward_to: 'events' cannot forward"),
        ({}, {"rules": {"a b": Rule()}}, "'a b' is no name of a rule"),
    ],
)
def test_entities_that_cannot_be_together_are_refused(
    queues: dict[str, QueueProperties], subscription: dict[str, Any], problem: str
) -> None:
    topic = TopicProperties(subscriptions={"all": SubscriptionProperties(**subscription)})
    with pytest.raises(ConfigError, match=problem):
        LocalServiceBus(queues, topics={"events": topic})


def test_a_configuration_may_have_more_topics_to_forward_to() -> None:
    given = Config(queues={"a": QueueProperties()})
    assert LocalServiceBus(given, topics={"b": TopicProperties()}).queue("a") is not None
    LocalServiceBus({"a": QueueProperties(forward_to="b")}, topics={"b": TopicProperties()})


def test_every_problem_is_told() -> None:
    text = _config(
        _queue(LockDuration="PT0S", MaxDeliveryCount=0),
        _queue("Orders"),
        _queue("/"),
        Topics=[{"Name": "orders"}],
    )
    with pytest.raises(ConfigError) as caught:
        Config.parse(text)
    assert len(caught.value.problems) == 5
    assert str(caught.value) == "\n".join(caught.value.problems)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"UserConfig": {"Namespaces": [{}, {}]}}', '{"UserConfig": 1}']
)
def test_something_else_than_a_configuration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        Config.parse(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("PT5S", 5), ("PT1H1M1S", 3661), ("P1DT1H", 90000), ("PT0.5S", 0.5)),
        *(("PT0S", 0), ("P7D", 604_800), ("PT10M", 600), ("PT20S", 20)),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)
    assert format_duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1S", "PT1", None])
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_duration(text)


def test_a_duration_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than any duration"):
        parse_duration("P" + "9" * 400 + "D")
