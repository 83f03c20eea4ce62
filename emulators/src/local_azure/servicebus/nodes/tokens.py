"""Who may come in: shared access signatures and JSON web tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from local_azure.servicebus.amqp.errors import AmqpError

if TYPE_CHECKING:
    from local_azure.servicebus.broker.address import Address

SAS_TOKEN = "servicebus.windows.net:sastoken"  # noqa: S105 - the name of a type
JWT = "jwt"
_PREFIX = "SharedAccessSignature "
_SECONDS = re.compile(r"\d{1,12}", re.ASCII)


def unauthorized(why: str) -> AmqpError:
    """The refusal of a client that may not come in."""
    return AmqpError("amqp:unauthorized-access", why)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAccessKey:
    """A key, and its name, that opens the namespace."""

    name: str
    value: str

    def verify(self, token: str, now: float) -> float:
        """Checks a shared access signature.

        Returns:
            When it ends.

        Raises:
            AmqpError: It is malformed, expired or signed with another key.
        """
        fields = dict(part.partition("=")[::2] for part in token.removeprefix(_PREFIX).split("&"))
        if not {"sr", "sig", "se", "skn"} <= fields.keys() or not _SECONDS.fullmatch(fields["se"]):
            raise unauthorized("MalformedToken: sr, sig, se and skn are needed.")
        if not self._signed(fields):
            raise unauthorized("InvalidSignature: The token has an invalid signature.")
        if int(fields["se"]) <= now:
            raise unauthorized("ExpiredToken: The token is expired.")
        return float(fields["se"])

    def _signed(self, fields: dict[str, str]) -> bool:
        text = f"{fields['sr']}\n{fields['se']}".encode()
        digest = hmac.digest(self.value.encode(), text, hashlib.sha256)
        expected, given = base64.b64encode(digest), unquote(fields["sig"]).encode()
        return unquote(fields["skn"]) == self.name and hmac.compare_digest(expected, given)

    def opens(self, sasl_plain: bytes) -> bool:
        """Whether the response of SASL PLAIN names this key."""
        expected = f"{self.name}\0{self.value}".encode()
        return hmac.compare_digest(expected, sasl_plain.partition(b"\0")[2])


def is_sas(token: str) -> bool:
    """Whether a token is a shared access signature."""
    return token.startswith(_PREFIX)


def verify_jwt(token: str, now: float) -> float:
    """Checks that a JSON web token is well formed and in force; nobody here could check more.

    Returns:
        When it ends.

    Raises:
        AmqpError: It is not.
    """
    parts = token.split(".")
    try:
        header, claims = (json.loads(_base64url(part)) for part in parts[:2])
    except (ValueError, RecursionError) as error:
        raise unauthorized("MalformedToken: The token is no JSON web token.") from error
    if len(parts) != 3 or not isinstance(header, dict) or not isinstance(claims, dict):
        raise unauthorized("MalformedToken: The token is no JSON web token.")
    expires = _moment(claims.get("exp"))
    if expires <= now:
        raise unauthorized("ExpiredToken: The token is expired.")
    return expires


def _moment(claim: object) -> float:
    """The end of a token, which has one."""
    try:
        moment = float(claim) if isinstance(claim, int | float) else 0.0
    except OverflowError:
        moment = math.inf
    if not math.isfinite(moment):
        raise unauthorized("MalformedToken: The token ends at no time that there is.")
    return moment


def _base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def covers(audience: Address, address: Address) -> bool:
    """Whether a token for ``audience`` opens an address: its own entity, or the namespace."""
    opened = audience.key
    return opened in ("", address.key) or address.key.startswith(opened + "/")
