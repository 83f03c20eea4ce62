"""Messages as bytes: what rules see of them, and what their actions change."""

from __future__ import annotations

from emulators.tests.servicebus.peer import PAYLOAD
from local_azure.clock import Clock
from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.message import (
    APPLICATION_PROPERTIES,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    section,
)
from local_azure.servicebus.amqp.types import Int, Long, Symbol, Timestamp
from local_azure.servicebus.content import WireContent
from local_azure.servicebus.fields import Changes, Fields

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


def test_a_time_is_the_clients_and_counts_by_the_emulators_clock() -> None:
    clock = Clock(frozen_at=1_000_000_000)
    in_a_minute = Timestamp(round((clock.on_wall(clock.now()) + 60) * 1000))
    annotations = encode({Symbol("x-opt-scheduled-enqueue-time"): in_a_minute})
    content = WireContent.parse(section(MESSAGE_ANNOTATIONS, annotations) + PAYLOAD, clock)
    assert content.scheduled_for is not None
    assert abs(content.scheduled_for - 1_000_000_060) < 1
