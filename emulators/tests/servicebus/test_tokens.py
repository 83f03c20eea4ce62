"""Who is let in."""

from __future__ import annotations

import base64
import json

import pytest
from azure.servicebus._pyamqp.utils import generate_sas_token

from local_azure.servicebus.address import Address
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.tokens import SharedAccessKey, covers, is_sas, verify_jwt

_NOW = 1_000_000
_KEY = SharedAccessKey(name="Root", value="secret")


def _sas(name: str = "Root", value: str = "secret", expires: int = _NOW + 60) -> str:
    token: str = generate_sas_token(  # type: ignore[no-untyped-call]
        "sb://localhost/orders", name, value, expires
    )
    return token


def _jwt(**claims: object) -> str:
    parts = [json.dumps({"alg": "none"}), json.dumps(claims), "signature"]
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().strip("=") for part in parts)


def test_a_signature_with_the_key_is_accepted() -> None:
    assert is_sas(_sas())
    _KEY.verify(_sas(), _NOW)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (_sas(name="Other"), "InvalidSignature"),
        (_sas(value="other"), "InvalidSignature"),
        (_sas().replace("orders", "stock"), "InvalidSignature"),
        (_sas(expires=_NOW), "ExpiredToken"),
        ("SharedAccessSignature sr=a&sig=b&se=soon&skn=Root", "MalformedToken"),
        (_sas().replace("se=1", "se=1" + "0" * 5000), "MalformedToken"),
        ("SharedAccessSignature", "MalformedToken"),
    ],
)
def test_another_signature_is_refused(token: str, why: str) -> None:
    with pytest.raises(AmqpError, match=f"amqp:unauthorized-access: {why}"):
        _KEY.verify(token, _NOW)


def test_a_json_web_token_in_force_is_accepted() -> None:
    assert not is_sas(_jwt(exp=_NOW + 1))
    verify_jwt(_jwt(exp=_NOW + 1), _NOW)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (_jwt(exp=_NOW), "ExpiredToken"),
        (_jwt(), "ExpiredToken"),
        ("", "MalformedToken"),
        ("a.b.c", "MalformedToken"),
        ("e30.e30", "MalformedToken"),
        ("e30.W10.x", "MalformedToken"),
        ("ä.ö.ü", "MalformedToken"),
        (base64.urlsafe_b64encode(b"[" * 99_999).decode() + ".e30.x", "MalformedToken"),
    ],
)
def test_another_json_web_token_is_refused(token: str, why: str) -> None:
    with pytest.raises(AmqpError, match=why):
        verify_jwt(token, _NOW)


@pytest.mark.parametrize(
    ("audience", "opens"),
    [
        ("sb://localhost/orders", True),
        ("amqps://localhost:5672/ORDERS/", True),
        ("sb://localhost/", True),
        ("sb://localhost/orders/$management", True),
        ("sb://localhost/order", False),
        ("sb://localhost/stock", False),
    ],
)
def test_a_token_opens_its_entity_and_what_belongs_to_it(audience: str, opens: bool) -> None:
    for path in ("orders", "orders/$management", "orders/$DeadLetterQueue"):
        assert covers(audience, Address.parse(path)) is opens
