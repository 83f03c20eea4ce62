from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import rfc8785

from idempotent_consumer.core.payload import Payload
from idempotent_consumer.core.request_hash import Selection
from tests.unit.core.samples import ORDER

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonObject

GOLDEN = json.loads((Path(__file__).parent / "golden/hashes.json").read_text(encoding="utf-8"))


def payload(body: JsonObject, message_type: str | None = None, **properties: object) -> Payload:
    return Payload(type=message_type, properties=properties, body=body)


def digest(
    body: JsonObject,
    selection: Selection = Selection(),  # noqa: B008  # frozen
    message_type: str | None = None,
    **properties: object,
) -> str:
    return selection.content(payload(body, message_type, **properties)).digest()


@pytest.mark.case("HASH-08")
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_digests_are_what_they_always_were(case: dict[str, Any]) -> None:
    """With another digest every copy of a stored message would be a mismatch."""
    selection = Selection(**case["selection"])
    assert case["digest"] == digest(case["body"], selection, case["type"], **case["properties"])


def test_anybody_can_compute_a_digest() -> None:
    """SHA-256 over the RFC 8785 text of the type, the declared properties and the body."""
    text = rfc8785.dumps(["created", {"tenant": "eu"}, ORDER])
    received = digest(ORDER, Selection(properties=["tenant"]), "created", tenant="eu")
    assert sha256(text).hexdigest() == received


@pytest.mark.case("HASH-04")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", '"1"'),
        ("1", "true"),
        ("0", "false"),
        ("0", "null"),
        ("false", "null"),
        ('""', "null"),
        ("[]", "{}"),
        ("9007199254740992", "9007199254740993"),
    ],
)
def test_values_of_other_types_differ(one: str, other: str) -> None:
    assert digest({"v": json.loads(one)}) != digest({"v": json.loads(other)})


@pytest.mark.case("HASH-04")
@pytest.mark.parametrize("value", [None, "", [], {}, 0, False])
def test_an_absent_field_differs_from_every_value(value: Any) -> None:
    assert digest({}) != digest({"v": value})


def test_the_type_of_the_message_counts() -> None:
    assert digest(ORDER, message_type="created") != digest(ORDER, message_type="cancelled")


def test_declared_properties_count_and_others_do_not() -> None:
    declared = Selection(properties=["tenant"])
    assert digest(ORDER, declared, tenant="a") != digest(ORDER, declared, tenant="b")
    assert digest(ORDER, declared, tenant="a") == digest(ORDER, declared, tenant="a", trace="1")


@pytest.mark.case("HASH-09")
def test_what_is_left_out_does_not_count() -> None:
    selection = Selection(without=["/sentAt", "/meta/trace"])
    sent: JsonObject = {**ORDER, "sentAt": "now", "meta": {"trace": "1", "kept": 1}}
    again: JsonObject = {**ORDER, "sentAt": "later", "meta": {"kept": 1}}
    assert digest(sent, selection) == digest(again, selection)
    assert digest(sent, selection) != digest({**again, "meta": {"kept": 2}}, selection)


@pytest.mark.case("HASH-09")
def test_what_is_left_out_may_stand_in_an_array() -> None:
    selection = Selection(without=["/lines/0/at", "/marks/1", "/total/0", "/lines/9/at"])
    sent: JsonObject = {**ORDER, "lines": [{"sku": "a", "at": 1}], "marks": [1, 2, 3]}
    again: JsonObject = {**ORDER, "lines": [{"sku": "a"}], "marks": [1, 3]}
    assert digest(sent, selection) == digest(again, Selection())
    assert digest(sent, selection) != digest({**sent, "lines": [{"sku": "b"}]}, selection)


@pytest.mark.case("HASH-13")
def test_only_what_is_chosen_counts() -> None:
    selection = Selection(only=["/orderId", "/total"])
    assert digest(ORDER, selection) == digest({**ORDER, "loyalty": True}, selection)
    assert digest(ORDER, selection) != digest({**ORDER, "total": 1}, selection)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"only": []}, "name at least one field"),
        ({"only": ["/a"], "without": ["/b"]}, "nothing in without="),
        ({"without": ["a"]}, "no JSON pointer"),
        ({"without": "/a"}, "write a list"),
        ({"only": "/a"}, "write a list"),
        ({"properties": "tenant"}, "write a list"),
    ],
)
def test_a_selection_that_says_nothing_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Selection(**options)


def test_field_digests_of_two_records_do_not_compare() -> None:
    content = Selection().content(payload(ORDER))
    assert content.field_digests("salt-a")["total"] != content.field_digests("salt-b")["total"]
