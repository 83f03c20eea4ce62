"""Addresses that clients are told."""

from __future__ import annotations

import pytest

from local_azure.listening import url_of
from local_azure.servicebus import LocalServiceBus


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("127.0.0.1", "127.0.0.1:5672"),
        ("::1", "[::1]:5672"),
        ("0.0.0.0", "localhost:5672"),  # noqa: S104 - nothing listens
        ("::", "localhost:5672"),
        ("", "localhost:5672"),
    ],
)
def test_clients_are_told_an_address_of_this_machine(host: str, told: str) -> None:
    bus = LocalServiceBus({}, host=host, port=5672)
    assert bus.connection_string.startswith(f"Endpoint=sb://{told};SharedAccessKeyName=")
    assert url_of(host, 5672) == f"http://{told}/"
