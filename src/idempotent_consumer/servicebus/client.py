"""The SDK's client, tuned: who we are, and how long it tries by itself."""

from __future__ import annotations

import asyncio
import platform
from typing import TYPE_CHECKING, Any

from azure.servicebus.aio import ServiceBusClient

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

POLL = 0.02
"""Seconds after which receivers and senders look up from their socket; a call outlasts its
time by so much, and what the SDK does by turns waits so long for the next turn."""

_TUNING: dict[str, Any] = {
    # A broken connection is mended, and a settlement sent again, within a second;
    # who calls knows better than the SDK what to do after that.
    "retry_total": 2,
    "retry_backoff_factor": 0.1,
    "retry_backoff_max": 1.0,
    # Seconds for one attempt to open a link, to send, or to renew a lock.
    "try_timeout": 10.0,
}


def client_from_connection_string(text: str) -> ServiceBusClient:
    """A client of the namespace in the connection string; meant for emulators.

    Raises:
        ValueError: It is no connection string of Service Bus.
    """
    return ServiceBusClient.from_connection_string(text, **_TUNING)


def client_from_identity(namespace: str, credential: AsyncTokenCredential) -> ServiceBusClient:
    """A client that asks Microsoft Entra ID for its tokens.

    Args:
        namespace: Fully qualified, such as ``shop.servicebus.windows.net``.
        credential: Closed by whoever made it.
    """
    return ServiceBusClient(namespace, credential, **_TUNING)


async def know_platform() -> None:
    """To be called before a receiver or sender is made.

    The SDK asks for the platform's name then, and Python the first time runs a program to
    learn it: not a thing to do in an event loop.
    """
    await asyncio.to_thread(platform.platform)
