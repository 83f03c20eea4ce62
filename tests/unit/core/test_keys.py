from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.core.keys import BodyField, Key, MessageId, Property, key_of
from idempotent_consumer.core.payload import read_payload
from idempotent_consumer.core.reasons import Reason, Rejected
from tests.unit.core.samples import ORDER, delivery

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery

MISSING, INVALID = Reason.MISSING_MESSAGE_ID, Reason.INVALID_MESSAGE_ID


def key(where: Key, sent: Delivery) -> str:
    return key_of(where, sent, read_payload(sent))


def reason_for(message_id: str | None) -> Reason:
    with pytest.raises(Rejected) as caught:
        key(MessageId(), delivery(message_id=message_id))
    return caught.value.reason


@pytest.mark.case("KEY-03", "KEY-04")
@pytest.mark.parametrize(
    ("message_id", "reason"),
    [
        (None, MISSING),
        ("", MISSING),
        ("   ", MISSING),
        ("\t\n", MISSING),
        ("None", INVALID),
        ("null", INVALID),
        ("undefined", INVALID),
        ("<nil>", INVALID),
        ("NaN", INVALID),
        ("[object Object]", INVALID),
        ("00000000-0000-0000-0000-000000000000", INVALID),
        ("{00000000-0000-0000-0000-000000000000}", INVALID),
        ("urn:uuid:00000000-0000-0000-0000-000000000000", INVALID),
        ("0" * 32, INVALID),
        ("\ud800", INVALID),
        ("é" * 1024 + "e", Reason.TOO_LARGE),
    ],
)
def test_a_key_that_unrelated_messages_share_is_none(message_id: str, reason: Reason) -> None:
    assert reason is reason_for(message_id)


@pytest.mark.case("KEY-07")
@pytest.mark.parametrize(
    "message_id",
    [
        *("..", "a/b", "x?y", "😀", " a ", "NONE-1", "0" * 31, "é" * 1024),
        "{6F9619FF-8B86-D011-B42D-00C04FC964FF}",
    ],
)
def test_any_other_message_id_is_a_key_as_it_stands(message_id: str) -> None:
    assert message_id == key(MessageId(), delivery(message_id=message_id))


@pytest.mark.case("KEY-05")
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Property("orderKey"), "p-1"),
        (Property("number"), "17"),
        (BodyField("/orderId"), "ord-1001"),
        (BodyField("/customer/ids/1"), "c-2"),
    ],
)
def test_a_key_may_stand_elsewhere(where: Key, expected: str) -> None:
    body = {**ORDER, "customer": {"ids": ["c-1", "c-2"]}}
    assert expected == key(where, delivery(body, properties={"orderKey": "p-1", "number": 17}))


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (Property("absent"), MISSING),
        (BodyField("/absent"), MISSING),
        (BodyField("/nothing"), MISSING),
        (BodyField("/flag"), INVALID),
        (BodyField("/total"), INVALID),
        (BodyField("/inner"), INVALID),
    ],
)
def test_a_key_is_text_or_an_integer(where: Key, reason: Reason) -> None:
    body = {**ORDER, "nothing": None, "flag": True, "inner": {}}
    with pytest.raises(Rejected) as caught:
        key(where, delivery(body))
    assert reason is caught.value.reason


def test_the_place_of_a_key_is_checked_where_it_is_declared() -> None:
    with pytest.raises(ValueError, match="write it like '/orderId'"):
        BodyField("orderId")
