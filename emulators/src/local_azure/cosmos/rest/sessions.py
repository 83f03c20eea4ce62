"""Session tokens: what a client has seen of a container, and what it may therefore read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from local_azure.cosmos.errors import bad_request, session_not_available

if TYPE_CHECKING:
    from local_azure.cosmos.store.containers import Container

PARTITION_KEY_RANGE: Final = "0"
"""The one range that holds every partition key."""

READS: Final = frozenset({"read", "list", "query", "change_feed"})
"""The operations that must show a client what it has seen."""

_NO_REGION_VERSION: Final = "-1"


def session_token(container: Container) -> str:
    """The token for a client that has seen all of a container."""
    return f"{PARTITION_KEY_RANGE}:{_NO_REGION_VERSION}#{container.lsn}"


def check_session(token: str | None, container: Container) -> None:
    """Raises 404, sub-status 1002, if a client has seen more than there is."""
    for part in token.split(",") if token else ():
        name, _, version = part.strip().partition(":")
        if name == PARTITION_KEY_RANGE and _lsn(version) > container.lsn:
            raise session_not_available()


def _lsn(version: str) -> int:
    """From ``version#lsn`` or ``version#lsn#region=lsn...``, or from the number alone."""
    number = version.split("#")[1] if "#" in version else version
    if not number.isdecimal() or len(number) > 18:
        raise bad_request("The session token is invalid.")
    return int(number)
