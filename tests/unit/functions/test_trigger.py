"""What `queue_trigger` gives to a function app."""

from __future__ import annotations

import json
import logging
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("azure.functions", reason="the extra functions is not installed")

import azure.functions as func

from idempotent_consumer import settings
from idempotent_consumer.functions import host_address
from idempotent_consumer.functions.invocation import InvocationFailed
from idempotent_consumer.functions.trigger import function_name
from idempotent_consumer.settings import CosmosSettings, SettingsError
from idempotent_consumer.telemetry import LOGGER
from idempotent_consumer.wiring.functions import queue_trigger, shared_connection
from tests.unit.core.samples import order_consumer
from tests.unit.functions.samples import context, message

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = {
    "ServiceBus": settings.SERVICE_BUS_EMULATOR,
    "Cosmos": settings.COSMOS_EMULATOR,
    "ORDERS_QUEUE": "orders",
}


@pytest.fixture(autouse=True)
def _app_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


def indexed(blueprint: func.Blueprint) -> Any:
    """The function, as a host that indexes the app finds it."""
    app = func.FunctionApp()
    app.register_functions(blueprint)
    (function,) = app.get_functions()
    return function


def bindings(function: Any) -> Mapping[str, Any]:
    (binding,) = json.loads(function.get_function_json())["bindings"]
    found: dict[str, Any] = binding
    return found


@pytest.mark.case("KEY-01", "SET-02")
def test_the_trigger_has_what_the_rest_relies_on() -> None:
    function = indexed(queue_trigger(order_consumer(), queue_name="%ORDERS_QUEUE%"))
    assert function.get_function_name() == "order-processor"
    assert bindings(function) == {
        "type": "serviceBusTrigger",
        "direction": "IN",
        "name": "message",
        "queueName": "%ORDERS_QUEUE%",
        "connection": "ServiceBus",
        "dataType": "BINARY",
        "cardinality": "ONE",
        "autoCompleteMessages": False,
    }


def test_another_connection_is_named_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("Other", settings.SERVICE_BUS_EMULATOR)
    function = indexed(queue_trigger(order_consumer(), queue_name="orders", connection="Other"))
    assert bindings(function)["connection"] == "Other"


@pytest.mark.parametrize("name", SETTINGS)
def test_an_app_without_a_setting_is_not_indexed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So no message is taken that could not be handled."""
    monkeypatch.delenv(name)
    with pytest.raises(SettingsError, match=rf"{name}\w* is missing; legal is"):
        queue_trigger(order_consumer(), queue_name="%ORDERS_QUEUE%")


def test_a_missing_profile_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    queue_trigger(order_consumer(), queue_name="orders")
    assert [record.message for record in caplog.records if settings.PROFILE in record.message]


@pytest.mark.parametrize(
    ("environment", "text"),
    [("Development", "message handled outcome=duplicate"), ("Production", "message handled")],
)
def test_where_core_tools_show_text_alone_it_tells_the_fields(
    environment: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("AZURE_FUNCTIONS_ENVIRONMENT", environment)
    logger = logging.getLogger(LOGGER)
    monkeypatch.setattr(logger, "filters", [])
    for queue in ("orders", "more-orders"):
        queue_trigger(order_consumer(), queue_name=queue)
    caplog.clear()
    logger.warning("message handled", extra={"outcome": "duplicate"})
    assert caplog.messages == [text]


@pytest.mark.parametrize(
    ("consumer", "function"),
    [("order-processor", "order-processor"), ("shop.orders", "shop_orders"), ("7", "consumer_7")],
)
def test_a_function_has_the_name_of_its_consumer_as_far_as_hosts_take_it(
    consumer: str, function: str
) -> None:
    assert function_name(consumer) == function
    assert re.fullmatch(r"(?i)[a-z][a-z0-9_-]{0,127}", function)


def test_the_functions_of_a_process_share_a_connection_to_each_account() -> None:
    one, other = (CosmosSettings(endpoint=f"https://{name}.example/") for name in ("one", "other"))
    assert shared_connection(one) is shared_connection(replace(one))
    assert shared_connection(one) is not shared_connection(other)


async def test_a_process_that_no_host_started_handles_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(host_address, "COMMAND_LINE", host_address.COMMAND_LINE / "missing")
    function = indexed(queue_trigger(order_consumer(), queue_name="orders"))
    with pytest.raises(InvocationFailed, match="started by no Functions host"):
        await function.get_user_function()(message=message(b""), context=context())
