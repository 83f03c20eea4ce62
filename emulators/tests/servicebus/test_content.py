"""Messages as bytes: what rules see of them, and what their actions change."""

from __future__ import annotations

import pytest

from emulators.tests.servicebus.peer import PAYLOAD
from local_azure.clock import Clock
from local_azure.servicebus.amqp.encoding import encode, encode_map
from local_azure.servicebus.amqp.errors import AmqpError, DecodeError
from local_azure.servicebus.amqp.message import (
    APPLICATION_PROPERTIES,
    DELIVERY_ANNOTATIONS,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    section,
)
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
from local_azure.servicebus.broker.fields import Changes, Fields
from local_azure.servicebus.nodes.content import WireContent

_TYPE = Symbol("text/plain")
_LISTED = ["m", None, "to", "label", "reply", "c", _TYPE, None, None, None, "s", None, "r"]
_ENCODED = (
    section(PROPERTIES, encode(_LISTED))
    + section(APPLICATION_PROPERTIES, encode({"n": Int(1), "kept": "x"}))
    + PAYLOAD
)


def test_rules_see_the_properties_of_both_kinds() -> None:
    content = WireContent.parse(_ENCODED, Clock())
    assert content.fields == Fields(
        system={
            "MessageId": "m",
            "To": "to",
            "Label": "label",
            "ReplyTo": "reply",
            "CorrelationId": "c",
            "ContentType": "text/plain",
            "SessionId": "s",
            "ReplyToSessionId": "r",
        },
        user={"n": 1, "kept": "x"},
    )
    assert WireContent.parse(PAYLOAD, Clock()).fields == Fields(system={}, user={})


def test_changes_reach_the_bytes_and_leave_the_rest_alone() -> None:
    content = WireContent.parse(_ENCODED, Clock())
    changed = content.changed(
        Changes(
            system={"Label": "new", "To": None, "SessionId": "t", "ContentType": "a/b"},
            user={"n": None, "added": 2},
        )
    )
    assert (changed.session_id, changed.message_id) == ("t", "m")
    assert changed.fields.system["Label"] == "new"
    assert "To" not in changed.fields.system
    assert isinstance(changed.fields.system["ContentType"], Symbol)
    assert changed.application_properties == {"kept": "x", "added": 2}
    assert isinstance(changed.application_properties["added"], Long)
    assert changed.sections.body == content.sections.body
    assert changed.size - content.size == sum(map(len, changed.sections.values.values())) - sum(
        map(len, content.sections.values.values())
    )


@pytest.mark.parametrize(
    ("system", "user"),
    [
        ({"ContentType": "text/ü"}, {}),
        ({"Label": "\ud800"}, {}),
        ({}, {"n": 1 << 63}),
        ({}, {"n": Array([Described(ULong(1), None)])}),
    ],
)
def test_what_no_message_can_have_is_refused(
    system: dict[str, object], user: dict[str, object]
) -> None:
    content = WireContent.parse(_ENCODED, Clock())
    with pytest.raises(AmqpError, match="argument-error"):
        content.changed(Changes(system=system, user=user))


def test_another_time_to_live_stands_in_the_header() -> None:
    content = WireContent.parse(_ENCODED, Clock()).lasting(60)
    assert (content.time_to_live, content.header.time_to_live) == (60, 60_000)
    assert isinstance(content.header.time_to_live, UInt)


@pytest.mark.parametrize(
    "descriptor", [DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS, APPLICATION_PROPERTIES]
)
@pytest.mark.parametrize("entry", [encode("k") + b"\xa1\x02\xff\xff", encode(None) + encode("v")])
@pytest.mark.parametrize("is_scheduled", [True, False])
def test_a_map_that_cannot_be_read_is_refused_at_once(
    descriptor: int, entry: bytes, is_scheduled: bool
) -> None:
    later = {Symbol("x-opt-scheduled-enqueue-time"): Timestamp(253_000_000_000_000)}
    sections = {MESSAGE_ANNOTATIONS: encode(later)} if is_scheduled else {}
    sections[descriptor] = encode_map([entry])
    encoded = b"".join(section(at, value) for at, value in sections.items())
    with pytest.raises(DecodeError):
        WireContent.parse(encoded + PAYLOAD, Clock())


def test_a_time_is_the_clients_and_counts_by_the_emulators_clock() -> None:
    clock = Clock(frozen_at=1_000_000_000)
    in_a_minute = Timestamp(round((clock.on_wall(clock.now()) + 60) * 1000))
    annotations = encode({Symbol("x-opt-scheduled-enqueue-time"): in_a_minute})
    content = WireContent.parse(section(MESSAGE_ANNOTATIONS, annotations) + PAYLOAD, clock)
    assert content.scheduled_for is not None
    assert abs(content.scheduled_for - 1_000_000_060) < 1
