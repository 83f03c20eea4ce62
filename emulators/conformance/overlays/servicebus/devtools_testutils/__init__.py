"""Stands for the package of the same name in Microsoft's repository, which no index has."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from azure.core.credentials import AccessToken

if TYPE_CHECKING:
    from collections.abc import Callable


class AzureRecordedTestCase:
    """What the tests inherit from."""

    @staticmethod
    def await_prepared_test(test: Callable[..., Any]) -> Callable[..., Any]:
        """There is nothing to prepare."""
        return test


AzureMgmtRecordedTestCase = AzureRecordedTestCase


def RandomNameResourceGroupPreparer(**_: Any) -> Callable[[Any], Any]:  # noqa: N802 - as theirs
    """There are no resource groups here."""
    return lambda test: test


class _Credential:
    """Gives out web tokens that are well formed and in force."""

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        expires = int(time.time()) + 3600
        header, claims = _encoded({"alg": "none"}), _encoded({"exp": expires})
        return AccessToken(f"{header}.{claims}.", expires)


class _AsyncCredential:
    """The same for asynchronous clients."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        return _Credential().get_token()

    async def close(self) -> None:
        """Holds nothing."""

    async def __aenter__(self) -> _AsyncCredential:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Holds nothing."""


def get_credential(*, is_async: bool = False, **_: Any) -> _Credential | _AsyncCredential:
    """A credential for a client."""
    return _AsyncCredential() if is_async else _Credential()


def _encoded(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
