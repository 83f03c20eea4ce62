"""What a namespace's management shows of a queue, or why it shows nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from idempotent_consumer.doctor.facts import DeployedQueue
from idempotent_consumer.doctor.management import MANAGEMENT, management_address, show_queue
from idempotent_consumer.servicebus.diagnosis import Diagnosis
from idempotent_consumer.settings import (
    SERVICE_BUS_EMULATOR,
    ServiceBusSettings,
    SettingsError,
)
from local_azure.servicebus import QueueProperties
from tests.unit.doctor.services import WITHOUT_END, management_of, served

if TYPE_CHECKING:
    from tests.unit.doctor.services import Handler

EMULATOR = ServiceBusSettings(connection_string=SERVICE_BUS_EMULATOR)
QUEUE = QueueProperties(requires_duplicate_detection=True)


async def shown_by(answer: Handler) -> DeployedQueue | Diagnosis:
    async with served(answer) as address:
        return await show_queue(EMULATOR, address, "orders")


async def test_a_queue_is_shown_with_its_numbers() -> None:
    assert await shown_by(management_of({"orders": QUEUE}, RequiresSession="true")) == (
        DeployedQueue(
            lock=timedelta(minutes=1),
            max_deliveries=3,
            lifetime=timedelta(hours=1),
            window=timedelta(seconds=20),
            dead_letters_expired=False,
            sessions=True,
            partitioned=False,
        )
    )


async def test_no_end_is_shown_as_none() -> None:
    queue = await shown_by(management_of({"orders": QUEUE}, DefaultMessageTimeToLive=WITHOUT_END))
    assert isinstance(queue, DeployedQueue)
    assert queue.lifetime is None


async def test_a_window_without_duplicate_detection_is_none() -> None:
    queue = await shown_by(management_of({"orders": QueueProperties()}))
    assert isinstance(queue, DeployedQueue)
    assert queue.window is None


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (401, "unauthorized"),
        (403, "unauthorized"),
        (404, "not found"),
        (409, "status 409"),
    ],
)
async def test_a_refusal_has_its_cause(status: int, cause: str) -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=status)

    assert await shown_by(refuse) == Diagnosis(cause=cause)


async def test_a_queue_that_is_not_there_is_an_empty_feed() -> None:
    assert await shown_by(management_of({})) == Diagnosis(cause="not found")


async def test_what_is_no_queue_is_named_by_its_error_alone() -> None:
    answer = management_of({"orders": QUEUE}, LockDuration="a minute")
    shown = await shown_by(answer)
    assert isinstance(shown, Diagnosis)
    assert shown.cause.startswith("an answer that is no queue's (")


async def test_a_queue_with_a_property_left_out_is_no_queue() -> None:
    async def answer(_: web.Request) -> web.Response:
        description = "<QueueDescription xmlns='http://schemas.microsoft.com/netservices/2010/10/servicebus/connect'/>"
        return web.Response(
            text=f"<entry xmlns='http://www.w3.org/2005/Atom'><content>{description}</content></entry>",
            content_type="application/atom+xml",
        )

    assert await shown_by(answer) == Diagnosis(cause="an answer that is no queue's (TypeError)")


async def test_nobody_who_listens_is_unreachable() -> None:
    async with served(management_of({})) as address:
        pass
    assert await show_queue(EMULATOR, address, "orders") == Diagnosis(cause="unreachable")


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("localhost", "http://localhost:5300"),
        ("127.0.0.1:5673", "http://127.0.0.1:5300"),
        ("[::1]:5672", "http://[::1]:5300"),
    ],
)
def test_an_emulator_has_its_management_beside_it(endpoint: str, address: str) -> None:
    text = SERVICE_BUS_EMULATOR.replace("localhost", endpoint)
    assert management_address(ServiceBusSettings(connection_string=text), {}) == address


def test_a_setting_says_where_else() -> None:
    environment = {MANAGEMENT: "http://127.0.0.1:49152/"}
    assert management_address(EMULATOR, environment) == "http://127.0.0.1:49152"


def test_azure_has_it_at_the_namespace() -> None:
    settings = ServiceBusSettings(namespace="contoso.servicebus.windows.net")
    assert management_address(settings, {MANAGEMENT: "http://localhost:1"}) == (
        "https://contoso.servicebus.windows.net"
    )


@pytest.mark.parametrize("text", ["localhost:5300", "sb://localhost", "http://", "http://a:b"])
def test_what_is_no_address_is_told_with_a_legal_one(text: str) -> None:
    with pytest.raises(SettingsError) as told:
        management_address(EMULATOR, {MANAGEMENT: text})
    assert told.value.problems == (
        f"{MANAGEMENT} is no http address; legal is, for example, {MANAGEMENT}=http://localhost:5300",
    )
