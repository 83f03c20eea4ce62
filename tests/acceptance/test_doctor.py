"""The doctor, run against the emulators in set-ups that are broken in one way each."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from idempotent_consumer.cli.commands import app
from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.doctor import MANAGEMENT, Severity
from idempotent_consumer.settings import PROFILE
from local_azure.admin import AdminEndpoint
from local_azure.cosmos import EMULATOR_KEY, ContainerProperties, LocalCosmos
from local_azure.servicebus import LocalServiceBus, QueueProperties
from local_azure.servicebus.administration import Administration
from tests.acceptance.shop import CONFIG, SETTINGS
from tests.unit.doctor.services import (
    WITHOUT_END,
    management_of,
    served,
    several_write_regions,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from typer.testing import Result

QUEUE = CONFIG.queues["orders"]
CONTAINER = ContainerProperties(
    database="shop", id="orders", partition_key_paths=("/orderId",), default_ttl=-1
)


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """What runs, and with which settings the doctor looks at it.

    Attributes:
        shown: Properties that management shows otherwise than the queue has them.
        settings: In place of those that fit what runs; an empty one is left out.
    """

    queues: Mapping[str, QueueProperties] = field(default_factory=lambda: {"orders": QUEUE})
    shown: Mapping[str, str] = field(default_factory=dict)
    containers: tuple[ContainerProperties, ...] = (CONTAINER,)
    several_write_regions: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[dict[str, str]]:
        """The settings that fit, while it runs."""
        async with (
            LocalServiceBus(self.queues) as bus,
            LocalCosmos(self.containers) as cosmos,
            self._management(bus) as management,
            served(several_write_regions(cosmos)) as everywhere,
        ):
            endpoint = everywhere if self.several_write_regions else cosmos.endpoint
            yield {
                **SETTINGS,
                "ServiceBus": bus.connection_string,
                "Cosmos": f"AccountEndpoint={endpoint};AccountKey={EMULATOR_KEY};",
                MANAGEMENT: management,
                **self.settings,
            }

    @asynccontextmanager
    async def _management(self, bus: LocalServiceBus) -> AsyncIterator[str]:
        """The emulator's own, unless it shall show what no emulated queue can have."""
        if self.shown:
            async with served(management_of(self.queues, **self.shown)) as url:
                yield url
        else:
            routes = Administration(bus.entities, bus.key).routes()
            admin = AdminEndpoint(clock=bus.clock, events=bus.events, faults={}, management=routes)
            async with admin:
                yield admin.url.rstrip("/")


async def doctor(settings: Mapping[str, str], *options: str) -> Result:
    """The command, on a loop of its own in a thread of its own."""
    arguments = ("doctor", "--app", "shop.app:orders", "--queue", "orders", *options)
    return await asyncio.to_thread(CliRunner().invoke, app, arguments, env=settings)


def found(result: Result) -> dict[str, dict[str, Any]]:
    """What the doctor said as JSON and did not call well, by check."""
    said = [json.loads(line) for line in result.stdout.splitlines()]
    return {each["check"]: each for each in said if each["severity"] != Severity.OK}


def queue(**changes: Any) -> Mapping[str, QueueProperties]:
    return {"orders": replace(QUEUE, **changes)}


def container(**changes: Any) -> tuple[ContainerProperties, ...]:
    return (replace(CONTAINER, **changes),)


def profile(**changes: Any) -> str:
    """The sample's profile with other numbers of the queue."""
    sample = json.loads(SETTINGS[PROFILE])
    return json.dumps({**sample, "queue": {**sample["queue"], **changes}})


ANEW = "make the container of database 'shop' anew in the emulator"

BROKEN = {
    "queue missing": (
        SetUp(queues={"others": QUEUE}),
        {"receiving": ("cannot be received from: not found", 'Config.json: {"Name": "orders"')},
    ),
    "duplicate detection off": (
        SetUp(queues=queue(requires_duplicate_detection=False)),
        {
            "duplicate detection": (
                "is false, must be true",
                "say \"RequiresDuplicateDetection\": true in the Properties of queue 'orders'",
            )
        },
    ),
    "window too long": (
        SetUp(queues=queue(duplicate_detection_history_time_window=timedelta(days=1))),
        {
            "duplicate detection window": (
                "is P1D, must be PT20S",
                '"DuplicateDetectionHistoryTimeWindow": "PT20S"',
            )
        },
    ),
    "max delivery count too low": (
        SetUp(queues=queue(max_delivery_count=3)),
        {
            "max delivery count": ("is 3, must be 10", '"MaxDeliveryCount": 10'),
            "outage": ("endure a store outage of PT12M; wanted: PT30M", "profile's numbers"),
        },
    ),
    "messages without end": (
        SetUp(shown={"DefaultMessageTimeToLive": WITHOUT_END}),
        {
            "message time to live": (
                "is without end, must be PT1H",
                '"DefaultMessageTimeToLive": "PT1H"',
            ),
            "retention": ("markers live P1D; wanted: without end", "profile's numbers"),
        },
    ),
    "container missing": (
        SetUp(containers=container(id="others")),
        {
            "container": (
                "shop/orders is not shown: 404/1003",
                "there is no container shop/orders; " + ANEW,
            )
        },
    ),
    "wrong partition key path": (
        SetUp(containers=container(partition_key_paths=("/customerId",))),
        {
            "partition key": (
                "is /customerId, the consumer declares /orderId",
                ANEW,
            )
        },
    ),
    "hash version 1": (
        SetUp(containers=container(hash_version=1)),
        {"hash version": ("is 1, must be 2", ANEW)},
    ),
    "time to live off": (
        SetUp(containers=container(default_ttl=None)),
        {"time to live": ("is off", ANEW)},
    ),
    "several write regions": (
        SetUp(several_write_regions=True),
        {"write regions": ("several", "--enable-multiple-write-locations false")},
    ),
    "a contract that disagrees": (
        SetUp(settings={PROFILE: profile(lockDuration="PT2M", maxDeliveryCount=9)}),
        {
            "lock duration": ("is PT1M, must be PT2M", '"LockDuration": "PT2M"'),
            "max delivery count": ("is 10, must be 9", '"MaxDeliveryCount": 9'),
        },
    ),
}
UNUSABLE = {
    "plain http to another machine": (
        {"Cosmos": "", "Cosmos__accountEndpoint": "http://contoso.documents.azure.com/"},
        "Cosmos__accountEndpoint is plain http, over which no identity is shown",
    ),
    "plain http with a key": (
        {"Cosmos": f"AccountEndpoint=http://10.0.0.4:8081/;AccountKey={EMULATOR_KEY};"},
        "Cosmos is plain http to another machine",
    ),
    "a connection string as the namespace": (
        {
            "ServiceBus": "",
            "ServiceBus__fullyQualifiedNamespace": "Endpoint=sb://contoso.servicebus.windows.net/",
        },
        "ServiceBus__fullyQualifiedNamespace holds a connection string instead of a host name",
    ),
}


async def test_a_set_up_as_deployed_has_no_problem() -> None:
    async with SetUp().running() as settings:
        result = await doctor(settings, "--json")
    assert (found(result), result.exit_code) == ({}, ExitCode.DONE)


@pytest.mark.parametrize(("set_up", "named"), BROKEN.values(), ids=BROKEN)
async def test_what_is_broken_is_named_with_what_mends_it_and_nothing_else(
    set_up: SetUp, named: Mapping[str, tuple[str, str]]
) -> None:
    async with set_up.running() as settings:
        result = await doctor(settings, "--json")
    problems = found(result)
    assert (problems.keys(), result.exit_code) == (named.keys(), ExitCode.PROBLEMS)
    for check, (what, mend) in named.items():
        assert what in problems[check]["what"]
        assert mend in problems[check]["mend"]


@pytest.mark.parametrize(("settings", "problem"), UNUSABLE.values(), ids=UNUSABLE)
async def test_settings_that_cannot_be_used_are_named(
    settings: Mapping[str, str], problem: str
) -> None:
    result = await doctor({**SETTINGS, **settings})
    assert result.exit_code == ExitCode.SETTINGS
    assert f"problem  settings: {problem}" in result.stdout


async def test_services_out_of_reach_are_named_with_what_was_tried() -> None:
    async with SetUp().running() as settings:
        pass
    result = await doctor(settings)
    assert result.exit_code == ExitCode.UNREACHABLE
    cosmos = settings["Cosmos"].removeprefix("AccountEndpoint=").partition(";")[0]
    for what in (
        "queue 'orders' of 127.0.0.1:",
        f"{settings[MANAGEMENT]} does not show queue 'orders': unreachable",
        f"{cosmos} does not answer: connection",
    ):
        assert what in result.stdout
