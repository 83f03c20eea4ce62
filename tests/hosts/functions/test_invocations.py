"""What the host sends, and what the function tells it to do with the message."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip(
    "azure_functions_runtime",
    reason="azure-functions-runtime is not installed (Python 3.13 only): make functions-test",
)

import grpc

from idempotent_consumer import settings
from local_azure.cosmos import LocalCosmos
from local_azure.faults import Delay, Hang
from tests.acceptance.shop import order, until
from tests.hosts.functions.host import FunctionsHost, Refusal, functions_host
from tests.hosts.functions.samples import (
    CONTAINERS,
    ORDERS,
    Noted,
    app_settings,
    message,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.faults import Action

LOCK_LOST = Refusal(
    grpc.StatusCode.UNKNOWN,
    "Azure.Messaging.ServiceBus.ServiceBusException: The lock supplied is invalid. Either the "
    "lock expired, or the message has already been removed from the queue. (MessageLockLost).",
)


@pytest.fixture
async def cosmos() -> AsyncIterator[LocalCosmos]:
    async with LocalCosmos(CONTAINERS) as cosmos:
        yield cosmos


@pytest.fixture(params=[False, True], ids=["protobuf", "native"])
async def host(cosmos: LocalCosmos, request: pytest.FixtureRequest) -> AsyncIterator[FunctionsHost]:
    async with functions_host(app_settings(cosmos), native=request.param) as host:
        yield host


def stored(cosmos: LocalCosmos) -> list[str]:
    return sorted(document["id"] for document in cosmos.documents(ORDERS))


async def until_called(cosmos: LocalCosmos, action: Action) -> None:
    """Has the next batch befallen, and returns once that has happened."""
    fault = cosmos.faults.add(action, operation="batch")
    await until(lambda: fault.hits > 0)


async def test_an_order_is_stored_with_its_lines_and_completed(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    actions = Noted()
    invoked = await host.dispatch(message(), actions)
    assert invoked.succeeded
    assert actions.said == ["complete"]
    assert stored(cosmos) == ["ord-1001", "ord-1001~2F1"]


@pytest.mark.case("SET-04")
async def test_each_kind_of_copy_has_its_settlement(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    first, again, changed = Noted(), Noted(), Noted()
    await host.dispatch(message(), first)
    await host.dispatch(message(delivery_count=2), again)
    await host.dispatch(message(order(customerId="cust-78"), sequence_number=2), changed)
    assert (first.said, again.said, changed.said) == (["complete"], ["complete"], ["dead_letter"])
    assert changed.reason == "RequestHashMismatch"
    assert "customerId" in changed.description
    assert len(stored(cosmos)) == 2


async def test_hostile_messages_are_dead_lettered_by_name(host: FunctionsHost) -> None:
    evil = order(MessageId="ord-9", messageId="ord-9", LockToken="none")
    hostile = {
        "MalformedBody": [message(b"\xff\xfe{}"), message(b""), message(b"[]"), message({})],
        "MissingMessageId": [message(message_id=None), message(evil, None), message(message_id="")],
        "InvalidMessageId": [message(message_id="None")],
        "KeyDisagrees": [message(evil, "ord-2")],
        "UnsupportedContent": [message(content_type="text/xml")],
    }
    for reason, messages in hostile.items():
        for each in messages:
            actions = Noted()
            assert (await host.dispatch(each, actions)).succeeded
            assert (actions.said, actions.reason) == (["dead_letter"], reason)


async def test_a_body_that_names_metadata_changes_none(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    actions = Noted()
    await host.dispatch(message(order(MessageId="ord-9", LockToken="none")), actions)
    assert actions.said == ["complete"]
    assert "ord-1001" in stored(cosmos)


async def test_metadata_that_the_worker_cannot_read_is_the_hosts_to_abandon(
    host: FunctionsHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = message()
    metadata = {
        name: value for name, value in without.metadata().items() if name != "UserProperties"
    }
    monkeypatch.setattr(type(without), "metadata", lambda _: metadata)
    actions = Noted()
    invoked = await host.dispatch(without, actions)
    assert not invoked.succeeded
    assert actions.said == ["abandon"]


async def test_a_lost_lock_is_no_failure_and_the_redelivery_is_recognised(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    first, again = Noted([LOCK_LOST]), Noted()
    assert (await host.dispatch(message(), first)).succeeded
    assert (await host.dispatch(message(delivery_count=2), again)).succeeded
    assert (first.said, again.said) == (["complete"], ["complete"])
    assert len(stored(cosmos)) == 2


async def test_a_host_that_hangs_on_a_settlement_hangs_no_function(cosmos: LocalCosmos) -> None:
    profile = json.loads(app_settings(cosmos)[settings.PROFILE])
    profile["host"] |= {"processingBudget": "PT20S", "functionTimeout": "PT30S"}
    profile["outage"]["endured"] = "PT1M"  # ten deliveries of 20 s endure no more
    short = {**app_settings(cosmos), settings.PROFILE: json.dumps(profile)}
    async with functions_host(short) as host:
        hung, again = Noted(unanswered="complete"), Noted()
        invoked = await host.dispatch(message(), hung)
        assert "applied; the host did not confirm the settlement" in invoked.error
        assert hung.said == ["complete", "complete", "abandon"]
        assert (await host.dispatch(message(delivery_count=2), again)).succeeded
        assert again.said == ["complete"]


async def test_all_invocations_share_one_engine_and_wait_for_no_other(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    async def dispatched(number: int) -> None:
        key = f"ord-{number}"
        assert (await host.dispatch(message(order(key), key), Noted(delay=0.5))).succeeded

    await dispatched(0)
    began = time.monotonic()
    await asyncio.gather(*map(dispatched, range(1, 9)))
    assert time.monotonic() - began < 2
    assert len(cosmos.events.of("read_container")) == 1


@pytest.mark.parametrize("applied", [False, True])
async def test_a_worker_killed_in_mid_invocation_costs_nothing(
    cosmos: LocalCosmos, host: FunctionsHost, applied: bool
) -> None:
    killed, again = Noted(), Noted()
    dispatching = asyncio.create_task(host.dispatch(message(), killed))
    await until_called(cosmos, Hang(applied=applied))
    await host.kill_worker()
    assert not (await dispatching).succeeded
    await host.start_worker()
    assert (await host.dispatch(message(delivery_count=2), again)).succeeded
    assert (killed.said, again.said) == (["abandon"], ["complete"])
    assert len(stored(cosmos)) == 2


async def test_a_host_that_goes_in_mid_invocation_takes_its_worker_along(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    gone, again = Noted(), Noted()
    dispatching = asyncio.create_task(host.dispatch(message(), gone))
    await until_called(cosmos, Delay(seconds=0.3))
    await host.hang_up()
    assert not (await dispatching).succeeded
    async with functions_host(app_settings(cosmos)) as other:
        assert (await other.dispatch(message(delivery_count=2), again)).succeeded
    assert again.said == ["complete"]
    assert len(stored(cosmos)) == 2


async def test_what_is_said_of_a_failure_quotes_nothing_of_the_message(
    cosmos: LocalCosmos, host: FunctionsHost
) -> None:
    secret = "4111-1111-1111-1111"
    await host.dispatch(message(order(card=secret)), Noted())
    await host.dispatch(message(order(card=secret + "x"), properties={"card": secret}), Noted())
    await host.dispatch(message(f'{{"{secret}'.encode()), Noted())
    assert host.log
    assert not [line for line in host.log if secret in line]
