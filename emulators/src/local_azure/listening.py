"""Listening for HTTP, as the Cosmos DB emulator and the admin endpoint do."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from local_azure.addresses import address_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator


@asynccontextmanager
async def listening(
    runner: web.BaseRunner, host: str, port: int, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Listens while the context is entered; yields the port, which 0 leaves open.

    Raises:
        OSError: The address is taken or not this machine's.
    """
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=tls).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def url_of(host: str, port: int, scheme: str = "http") -> str:
    """The URL for clients on this machine."""
    return f"{scheme}://{address_of(host, port)}/"
