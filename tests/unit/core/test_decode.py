from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from idempotent_consumer.core.decode import MAX_BODY_BYTES, MAX_DEPTH, MAX_DIGITS, decode_object
from idempotent_consumer.core.reasons import Reason, Rejected
from tests.unit.core.samples import ORDER, delivery

TEXT = json.dumps(ORDER)


def reason_for(body: bytes | None, **more: Any) -> Reason:
    with pytest.raises(Rejected) as caught:
        decode_object(replace(delivery(b"", **more), body=body))
    return caught.value.reason


@pytest.mark.case("BODY-05", "BODY-06", "BODY-07", "BODY-08", "BODY-09", "BODY-11")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"null",
        b"[]",
        b"42",
        b'"x"',
        b'{"orderId":',
        b'{"orderId":"o"} x',
        b'{"a":1}{"a":2}',
        b"{'orderId': 'ord-1001', 'paid': True}",
        b'"{\\"orderId\\":\\"ord-1001\\"}"',
        b'{"a":1,"a":2}',
        b'{"total":NaN}',
        b'{"total":-Infinity}',
        b'{"total":1e999}',
        b'{"name":"\\ud800"}',
        b'{"\\udfff":1}',
        b'{"n":' + b"1" * (MAX_DIGITS + 1) + b"}",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"a":' * (MAX_DEPTH + 2) + b"1" + b"}" * (MAX_DEPTH + 2),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        '{"n":"é"}'.encode("latin-1"),
        b"\x1f\x8b\x08\x00",
    ],
)
def test_what_is_not_one_strict_json_object_is_malformed(body: bytes) -> None:
    assert Reason.MALFORMED_BODY is reason_for(body)


@pytest.mark.case("BODY-03", "BODY-15")
@pytest.mark.parametrize(
    "more",
    [
        {"content_type": "application/xml"},
        {"content_type": "application/json; charset=utf-16"},
        {"content_type": "application/json; charset=foo"},
        {"properties": {"Content-Encoding": "gzip"}},
        {"properties": {"Content-Encoding": ["gzip"]}},
    ],
)
def test_what_is_declared_as_something_else_is_unsupported(more: dict[str, Any]) -> None:
    assert Reason.UNSUPPORTED_CONTENT is reason_for(TEXT.encode(), **more)


def test_a_message_without_bytes_is_unsupported() -> None:
    assert Reason.UNSUPPORTED_CONTENT is reason_for(None)


def test_a_body_beyond_what_a_document_holds_is_too_large() -> None:
    assert Reason.TOO_LARGE is reason_for(b" " * (MAX_BODY_BYTES + 1))


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/octet-stream",
        'APPLICATION/JSON; Charset="utf-8"',
        "application/vnd.shop.order+json",
    ],
)
def test_json_is_read_whatever_a_careless_sender_calls_it(content_type: str | None) -> None:
    assert decode_object(delivery(ORDER, content_type=content_type)) == ORDER


@pytest.mark.case("BODY-01")
def test_a_byte_order_mark_is_passed_over() -> None:
    assert decode_object(delivery(b"\xef\xbb\xbf" + TEXT.encode())) == ORDER


def test_integers_are_exact() -> None:
    assert decode_object(delivery(b'{"n":18446744073709551617}')) == {"n": 2**64 + 1}
