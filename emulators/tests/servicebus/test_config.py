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
    QueueProperties,
    Rule,
    SqlFilter,
    SubscriptionProperties,
    TopicProperties,
    TrueFilter,
)
from local_azure.servicebus.durations import format_duration, parse_duration

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
        RequiresSession=True,
        ForwardTo="next",
        ForwardDeadLetteredMessagesTo="",
    )
    config = Config.parse(_config(queue, _queue("next"), Topics=[]))
    assert config.queues["orders"] == QueueProperties(
        lock_duration=timedelta(seconds=30),
        max_delivery_count=10,
        default_message_time_to_live=timedelta(minutes=10),
        dead_lettering_on_message_expiration=True,
        requires_duplicate_detection=True,
        duplicate_detection_history_time_window=timedelta(minutes=1),
        requires_session=True,
        forward_to="next",
    )


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
        ({"MaxDeliveryCount": True}, "MaxDeliveryCount: True is not within 1 to 10"),
        ({"DefaultMessageTimeToLive": "P1D"}, "P1D is not within PT5M to PT1H"),
        ({"DuplicateDetectionHistoryTimeWindow": "P7D"}, "P7D is not within PT5S to PT5M"),
        ({"RequiresDuplicateDetection": "yes"}, "'yes' is neither true nor false"),
        ({"ForwardTo": 1}, "ForwardTo: 1 is no name"),
        ({"ForwardTo": "other"}, "it cannot forward to 'other', which is not there"),
        ({"LockDuraton": "PT1M"}, "LockDuraton: no such property"),
    ],
)
def test_a_property_that_cannot_be_is_named(properties: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.parse(_config(_queue(**properties)))
    (told,) = caught.value.problems
    assert told.startswith("queue 'orders': ")
    assert problem in told


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
    ("text", "seconds"), [("PT5S", 5), ("PT1H1M1S", 3661), ("P1DT1H", 90000), ("PT0.5S", 0.5)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)
    assert parse_duration(format_duration(timedelta(seconds=seconds))) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1S", "PT1", None])
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_duration(text)
