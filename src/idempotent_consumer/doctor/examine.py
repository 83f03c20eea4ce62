"""Gathers the facts of a set-up from both services."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from azure.cosmos.aio import CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from azure.identity.aio import DefaultAzureCredential

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.cosmos.account import CONNECT_TIMEOUT, READ_TIMEOUT
from idempotent_consumer.cosmos.faults import FAILURES, read_failure
from idempotent_consumer.cosmos.store import NOWHERE
from idempotent_consumer.doctor.advice import ContainerAdvice
from idempotent_consumer.doctor.facts import Account, Broker, DeployedContainer, Facts
from idempotent_consumer.doctor.management import show_queue
from idempotent_consumer.servicebus.diagnosis import Diagnosis, Role, diagnose
from idempotent_consumer.servicebus.receiver import QueueReceiver
from idempotent_consumer.wiring.service_bus import service_bus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from datetime import datetime

    from azure.cosmos.aio import ContainerProxy

    from idempotent_consumer.core.consumer import Container
    from idempotent_consumer.settings import CosmosSettings, ServiceBusSettings, Settings


async def examine(
    container: Container,
    queue: str,
    settings: Settings,
    *,
    management: str,
    now: Callable[[], datetime],
) -> Facts:
    """The facts; what keeps a service from telling is one of them.

    Args:
        container: As the consumer declares it.
        queue: The queue's name.
        management: Where the namespace has its management.
        now: This machine's time of day, in UTC.
    """
    broker, account = await asyncio.gather(
        examine_broker(settings.service_bus, queue, management),
        examine_account(settings.cosmos, container, now),
    )
    return Facts(
        profile=settings.profile,
        warnings=settings.warnings,
        broker=broker,
        endpoint=settings.cosmos.endpoint,
        container=container,
        account=account,
    )


async def examine_broker(settings: ServiceBusSettings, queue: str, management: str) -> Broker:
    """The namespace: whether the queue can be received from, and what management shows of it."""
    async with service_bus(settings) as client:
        receiver = QueueReceiver(client, queue, client_id=settings.client_id)
        receiving, shown = await asyncio.gather(
            _try_to_receive(receiver), show_queue(settings, management, queue)
        )
    return Broker(
        address=receiver.address,
        management=management,
        emulated=settings.connection_string is not None,
        receiving=receiving,
        queue=shown,
    )


async def _try_to_receive(receiver: QueueReceiver) -> Diagnosis | None:
    """Opens a receiver, no more: a message that comes at once is released, and uncounted."""
    try:
        async with receiver.shared():
            return None
    except Exception as error:  # noqa: BLE001  # the SDK raises of its own and of others'
        return diagnose(error, receiver.address, Role.RECEIVER)
    finally:
        await receiver.close()


async def examine_account(
    settings: CosmosSettings, container: Container, now: Callable[[], datetime]
) -> Account | Fault:
    """The account, or why it does not answer."""
    advice = ContainerAdvice(settings.endpoint, container)
    try:
        async with _cosmos(settings) as client:
            headers: dict[str, str] = {}
            before = now()
            account = await client._get_database_account(response_hook=headers.update)
            skew = _skew(headers, before, now())
            database = client.get_database_client(container.database)
            return Account(
                several_write_regions=account._EnableMultipleWritableLocations,
                skew=skew,
                container=await _examine_container(
                    database.get_container_client(container.name), advice
                ),
            )
    except FAILURES as error:
        return _fault(error, advice)


@asynccontextmanager
async def _cosmos(settings: CosmosSettings) -> AsyncIterator[CosmosClient]:
    async with DefaultAzureCredential(managed_identity_client_id=settings.client_id) as identity:
        client = CosmosClient(
            settings.endpoint,
            settings.key or identity,
            connection_timeout=CONNECT_TIMEOUT,
            read_timeout=READ_TIMEOUT,
            retry_connect=0,
            retry_read=0,
        )
        try:
            await client.__aenter__()
            yield client
        finally:  # its own context stays open where it cannot be entered
            await client.close()


async def _examine_container(
    proxy: ContainerProxy, advice: ContainerAdvice
) -> DeployedContainer | Fault:
    try:
        shown = await proxy.read()
    except CosmosResourceNotFoundError:
        return Fault(
            kind=FaultKind.MISCONFIGURED, cause="404/1003", advice=advice.create_container()
        )
    except FAILURES as error:
        return _fault(error, advice)
    paths = tuple(shown["partitionKey"]["paths"])
    return DeployedContainer(
        partition_paths=paths,
        hash_version=shown["partitionKey"].get("version", 1),
        default_ttl=shown.get("defaultTtl"),
        unique_keys=bool(shown.get("uniqueKeyPolicy", {}).get("uniqueKeys")),
        reading=await _try_to_read(proxy, len(paths), advice),
    )


async def _try_to_read(proxy: ContainerProxy, paths: int, advice: ContainerAdvice) -> Fault | None:
    """The fault that a point read meets, by as many partition values as there are paths."""
    partition = NOWHERE.partition if paths == 1 else [NOWHERE.partition] * paths
    try:
        await proxy.read_item(NOWHERE.id, partition_key=partition)
    except FAILURES as error:
        return read_failure(error, advice)
    return None


def _fault(error: Exception, advice: ContainerAdvice) -> Fault:
    """What kept the account from answering; its 404 is one of these too."""
    return read_failure(error, advice) or Fault(kind=FaultKind.UNAVAILABLE, cause="404")


def _skew(headers: Mapping[str, str], before: datetime, after: datetime) -> timedelta | None:
    """How far the clock here is ahead; a header tells the time in whole seconds."""
    try:
        there = parsedate_to_datetime(headers["Date"]) + timedelta(seconds=0.5)
    except (KeyError, ValueError):
        return None
    return before + (after - before) / 2 - there
