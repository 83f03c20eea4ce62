"""What is found out from the services, whatever they answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.core.consumer import Container
from idempotent_consumer.doctor.examine import examine_account, examine_broker
from idempotent_consumer.doctor.facts import Account, Broker, DeployedContainer, DeployedQueue
from idempotent_consumer.servicebus.sender import OutgoingMessage, send
from idempotent_consumer.settings import CosmosSettings, ServiceBusSettings
from idempotent_consumer.wiring.service_bus import service_bus
from local_azure.cosmos import ContainerProperties, LocalCosmos
from local_azure.faults import Fail
from local_azure.servicebus import LocalServiceBus, QueueProperties
from tests.unit.doctor.services import management_of, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ORDERS = Container("shop/orders", "/orderId")
STORED = ContainerProperties(
    database="shop", id="orders", partition_key_paths=("/orderId",), unique_keys=(("/number",),)
)


@pytest.fixture(autouse=True)
def patience_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK asks four times about an account before it gives up."""
    monkeypatch.setenv("AZURE_COSMOS_HEALTH_CHECK_RETRY_AFTER_MS", "1")


@pytest.fixture
async def cosmos() -> AsyncIterator[LocalCosmos]:
    async with LocalCosmos([STORED]) as running:
        yield running


def a_minute_ahead() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=1)


async def account_of(cosmos: LocalCosmos, container: Container = ORDERS) -> Account | Fault:
    settings = CosmosSettings(endpoint=cosmos.endpoint, key=cosmos.key)
    return await examine_account(settings, container, a_minute_ahead)


async def test_an_account_shows_its_container_and_the_time(cosmos: LocalCosmos) -> None:
    account = await account_of(cosmos)
    assert isinstance(account, Account)
    assert not account.several_write_regions
    assert account.skew is not None
    assert abs(account.skew - timedelta(minutes=1)) < timedelta(seconds=5)
    assert account.container == DeployedContainer(
        partition_paths=("/orderId",),
        hash_version=2,
        default_ttl=None,
        unique_keys=True,
        reading=None,
    )


async def test_a_container_with_a_hierarchy_of_partition_keys_is_read_as_well() -> None:
    stored = replace(STORED, partition_key_paths=("/tenant", "/orderId"), unique_keys=())
    async with LocalCosmos([stored]) as cosmos:
        account = await account_of(cosmos)
    assert isinstance(account, Account)
    assert isinstance(account.container, DeployedContainer)
    assert account.container.partition_paths == ("/tenant", "/orderId")
    assert account.container.reading is None


async def test_a_missing_container_is_a_fault_with_advice(cosmos: LocalCosmos) -> None:
    account = await account_of(cosmos, Container("shop/stock", "/productId"))
    assert isinstance(account, Account)
    assert isinstance(account.container, Fault)
    assert account.container.cause == "404/1003"
    assert "make the container of database 'shop' anew" in account.container.advice


@pytest.mark.parametrize("operation", ["read_account", "read_container", "read"])
async def test_a_refusal_is_a_fault_where_it_was_met(cosmos: LocalCosmos, operation: str) -> None:
    cosmos.faults.add(Fail(code=403), operation=operation, times=None)
    fault = where(operation, await account_of(cosmos))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.cause) == (FaultKind.MISCONFIGURED, "403")
    assert "az cosmosdb sql role assignment create" in fault.advice


def where(operation: str, account: Account | Fault) -> object:
    """What stands for the answer to that operation."""
    match operation, account:
        case "read_container", Account(container=container):
            return container
        case "read", Account(container=DeployedContainer(reading=reading)):
            return reading
        case _:
            return account


async def test_an_account_out_of_reach_is_a_fault() -> None:
    async with LocalCosmos() as gone:
        pass
    assert await account_of(gone) == Fault(kind=FaultKind.UNAVAILABLE, cause="connection")


async def examined(bus: LocalServiceBus, queue: str = "orders") -> Broker:
    async with served(management_of({"orders": QueueProperties()})) as management:
        settings = ServiceBusSettings(connection_string=bus.connection_string)
        return await examine_broker(settings, queue, management)


async def test_a_queue_is_looked_at_without_taking_a_delivery() -> None:
    async with LocalServiceBus({"orders": QueueProperties()}) as bus:
        settings = ServiceBusSettings(connection_string=bus.connection_string)
        async with service_bus(settings) as client:
            await send(client, "orders", [OutgoingMessage(message_id="ord-1", body=b"{}")])
        broker = await examined(bus)
        (message,) = bus.queue("orders").messages
    assert broker.receiving is None
    assert isinstance(broker.queue, DeployedQueue)
    assert message.delivery_count == 0


async def test_a_queue_that_is_not_there_cannot_be_received_from() -> None:
    async with LocalServiceBus({}) as bus:
        broker = await examined(bus, "others")
    assert broker.receiving is not None
    assert broker.receiving.cause == "not found"
