"""Who is let in."""

from __future__ import annotations

import base64
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from azure.servicebus._pyamqp.utils import generate_sas_token

from emulators.tests.servicebus.requests_by_hand import jwt
from local_azure.clock import Clock
from local_azure.events import EventLog
from local_azure.faults import Faults
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.address import Address
from local_azure.servicebus.nodes.cbs import Authorization
from local_azure.servicebus.nodes.exchange import Request
from local_azure.servicebus.nodes.gate import Gate
from local_azure.servicebus.nodes.tokens import SharedAccessKey, covers, is_sas, verify_jwt

if TYPE_CHECKING:
    from collections.abc import Callable

_NOW = 1_000_000
_KEY = SharedAccessKey(name="Root", value="secret")


def _sas(name: str = "Root", value: str = "secret", expires: int = _NOW + 60) -> str:
    token: str = generate_sas_token(  # type: ignore[no-untyped-call]
        "sb://localhost/orders", name, value, expires
    )
    return token


def test_a_signature_with_the_key_is_accepted() -> None:
    assert is_sas(_sas())
    assert _KEY.verify(_sas(), _NOW) == _NOW + 60


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
    assert not is_sas(jwt(exp=_NOW + 1))
    assert verify_jwt(jwt(exp=_NOW + 1), _NOW) == _NOW + 1


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (jwt(exp=_NOW), "ExpiredToken"),
        (jwt(), "ExpiredToken"),
        (jwt(exp=10**400), "MalformedToken"),
        (jwt(exp=math.inf), "MalformedToken"),
        (jwt(exp=math.nan), "MalformedToken"),
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
        assert covers(Address.parse(audience), Address.parse(path)) is opens


class _Connection:
    """A connection whose timer the test runs."""

    def __init__(self) -> None:
        self.timers: list[float] = []
        self.ended: list[str] = []
        self.run: Callable[[], None] = lambda: None

    def later(self, _: str, seconds: float, then: Callable[[], None]) -> None:
        self.timers.append(seconds)
        self.run = then

    def refuse_links(self, which: Callable[[str], bool], _: AmqpError) -> None:
        self.ended = [path for path in ("orders", "stock", "$cbs") if which(path)]


def test_what_a_token_opens_is_closed_when_it_ends_even_if_the_timer_is_early_or_late() -> None:
    now = float(_NOW)
    authorization = Authorization(_KEY, Gate(Clock(), Faults(), EventLog()), now=lambda: now)
    connection: Any = _Connection()
    for audience, ends in (("orders", _NOW + 10), ("stock", _NOW + 30), ("orders", _NOW + 20)):
        authorization.respond(
            Request(
                session=SimpleNamespace(connection=connection),  # type: ignore[arg-type]
                message_id=None,
                reply_to=None,
                properties={"operation": "put-token", "type": "jwt", "name": audience},
                value=jwt(exp=ends),
            ),
            SimpleNamespace(answer=lambda *_: None),  # type: ignore[arg-type]
        )
    assert connection.timers == [10, 10, 20]
    now = _NOW + 19.9
    connection.run()
    assert connection.ended == []
    assert connection.timers[-1] == pytest.approx(0.1)
    now = _NOW + 20
    assert not authorization.allows(connection, Address.parse("orders"))
    connection.run()
    assert connection.ended == ["orders"]
    assert authorization.allows(connection, Address.parse("stock/$management"))
