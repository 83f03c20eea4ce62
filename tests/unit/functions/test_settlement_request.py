"""The bytes of a settlement: golden, as Microsoft's generated code makes them."""

from __future__ import annotations

import pytest

pytest.importorskip("azure.functions", reason="the extra functions is not installed")

from idempotent_consumer.core.decide import Abandon, Complete, DeadLetter
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.functions.settlement_request import settlement_request


def test_complete_and_abandon_name_the_lock() -> None:
    complete, abandon = (settlement_request(verb(), "token") for verb in (Complete, Abandon))
    assert (complete.method, abandon.method) == ("Complete", "Abandon")
    assert complete.argument == abandon.argument == b"\x0a\x05token"


def test_a_dead_letter_says_why() -> None:
    request = settlement_request(DeadLetter(Reason.TOO_LARGE, "é"), "token")
    assert request.method == "Deadletter"
    assert request.argument == b"\x0a\x05token\x1a\x0a\x0a\x08TooLarge\x22\x04\x0a\x02\xc3\xa9"


@pytest.mark.parametrize(
    ("length", "prefix"),
    [
        (0, b"\x22\x02\x0a\x00"),
        (127, b"\x22\x81\x01\x0a\x7f"),
        (128, b"\x22\x83\x01\x0a\x80\x01"),
        (1024, b"\x22\x83\x08\x0a\x80\x08"),
    ],
)
def test_lengths_take_as_many_bytes_as_they_need(length: int, prefix: bytes) -> None:
    request = settlement_request(DeadLetter(Reason.TOO_LARGE, "x" * length), "token")
    assert request.argument.endswith(b"TooLarge" + prefix + b"x" * length)


def test_a_description_that_is_no_unicode_is_said_all_the_same() -> None:
    request = settlement_request(DeadLetter(Reason.TOO_LARGE, "\ud800"), "token")
    assert request.argument.endswith(rb"\ud800")
