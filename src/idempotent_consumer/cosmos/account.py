"""One Cosmos DB account: one client a process, set up so that nobody but the engine retries."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError

from idempotent_consumer.cosmos.faults import SeveralWriteRegionsError

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential
    from azure.cosmos.aio import ContainerProxy

    from idempotent_consumer.core.consumer import Container

CONNECT_TIMEOUT = 3
READ_TIMEOUT = 6
"""Seconds. The service gives up an operation after 5; a call of the engine may last 10."""

_requests = logging.getLogger("idempotent_consumer.cosmos.requests")
"""The SDK's log of requests, of which each shows the key and the partition value."""
_requests.setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenContainer:
    """A container that exists and is partitioned as declared.

    Attributes:
        unique_keys: It has some, so a conflict need not be about an id.
        hash_version: Of its partition key; 1 hashes the first 101 bytes alone.
    """

    proxy: ContainerProxy
    unique_keys: bool
    hash_version: int


class CosmosAccount:
    """Opens containers, all on one client.

    A client works on the event loop that it was opened on. So each loop gets its own, and
    `close` is to be awaited before a loop ends.

    Args:
        endpoint: Such as ``https://shop.documents.azure.com:443/``.
        credential: The account's key, or an identity, which stays the caller's to close.
    """

    def __init__(self, endpoint: str, credential: str | AsyncTokenCredential) -> None:
        self.endpoint = endpoint
        self._credential = credential
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forget()

    async def open(self, container: Container) -> OpenContainer:
        """The container; the service is asked for its properties the first time alone.

        Raises:
            AzureError: It cannot be opened, for the reasons that any call can fail.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._forget()
            self._loop = loop
        if container.path not in self._opened:
            await self._open(container)
        return self._opened[container.path]

    async def close(self) -> None:
        """Closes the client; the next `open` starts anew."""
        client = self._client
        self._forget()
        if client is not None:
            await client.close()

    def _forget(self) -> None:
        self._client: CosmosClient | None = None
        self._opened: dict[str, OpenContainer] = {}
        self._opening = asyncio.Lock()

    async def _open(self, container: Container) -> None:
        async with self._opening:
            if container.path not in self._opened:
                client = await self._started()
                database = client.get_database_client(container.database)
                proxy = database.get_container_client(container.name)
                self._opened[container.path] = await _checked(proxy, container)

    async def _started(self) -> CosmosClient:
        if self._client is None:
            # In a thread: it runs a program to learn what it tells the service of this machine.
            client = await asyncio.to_thread(_client, self.endpoint, self._credential)
            try:
                await client.__aenter__()
                await _check_regions(client)
            except BaseException:
                await client.close()
                raise
            self._client = client
        return self._client


def _client(endpoint: str, credential: str | AsyncTokenCredential) -> CosmosClient:
    """A client that sends a write once; only what the service turned away it sends again.

    Its own re-sends after a cut or a silence would come back as conflicts with themselves.
    """
    return CosmosClient(
        endpoint,
        credential,
        # Looking for proxies costs as much as the rest of a request.
        transport=AioHttpTransport(use_env_settings=urlsplit(endpoint).scheme in getproxies()),
        connection_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retry_connect=0,
        retry_read=0,
        retry_throttle_total=-1,  # 0 would mean the default, 9
        no_response_on_write=True,
        logger=_requests,
    )


async def _check_regions(client: CosmosClient) -> None:
    """With several write regions two creates of one document both succeed."""
    account = await client._get_database_account()
    if account._EnableMultipleWritableLocations:
        raise SeveralWriteRegionsError


async def _checked(proxy: ContainerProxy, container: Container) -> OpenContainer:
    """The container as declared, or the error that calls inside it would meet."""
    try:
        properties = await proxy.read()
    except CosmosResourceNotFoundError as error:
        raise _answered(404, 1003) from error
    partition_key = properties["partitionKey"]
    if partition_key["paths"] != [container.partition_path]:
        raise _answered(400, 1001)
    return OpenContainer(
        proxy=proxy,
        unique_keys=bool(properties.get("uniqueKeyPolicy", {}).get("uniqueKeys")),
        hash_version=partition_key.get("version", 1),
    )


def _answered(status: int, sub_status: int) -> CosmosHttpResponseError:
    return CosmosHttpResponseError(  # type: ignore[no-untyped-call]
        status_code=status, sub_status=sub_status
    )
