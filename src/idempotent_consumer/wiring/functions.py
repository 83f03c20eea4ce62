"""The Azure Functions trigger, as its user sees it."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.functions.host_address import find_host_address
from idempotent_consumer.functions.invocation import InvocationFailed, Invocations
from idempotent_consumer.functions.settlement import SettlementService
from idempotent_consumer.functions.trigger import blueprint
from idempotent_consumer.settings import SettingsError, read_settings
from idempotent_consumer.telemetry import LOGGER, LogTelemetry, log_warnings, tell_fields
from idempotent_consumer.wiring.assembly import CosmosConnection, assemble

if TYPE_CHECKING:
    from collections.abc import Callable

    import azure.functions as func

    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.settings import CosmosSettings


def queue_trigger(
    consumer: Consumer, *, queue_name: str, connection: str = "ServiceBus"
) -> func.Blueprint:
    """A function that hands the messages of a queue to the consumer.

    Its name is the consumer's. The app settings are read here, while the host indexes the
    app: where they cannot be used the app does not start, and no message is taken.

    Args:
        consumer: Handles the messages.
        queue_name: Where they come from; ``%NAME%`` stands for an app setting.
        connection: The setting that holds the Service Bus connection.

    Raises:
        SettingsError: With every problem of the settings.
        ValueError: The consumer has no handler.
    """
    consumer.check()
    settings = read_settings(os.environ, service_bus=connection, cosmos=consumer.connection)
    telemetry = LogTelemetry(_resolved(queue_name), digest_keys=settings.digest_keys)
    _set_up_logging()
    log_warnings(settings.warnings)
    address = find_host_address()

    def invocations() -> Invocations:
        if address is None:
            raise InvocationFailed("this process was started by no Functions host")
        clock = SystemClock()
        engine = assemble(
            consumer,
            shared_connection(settings.cosmos).account,
            profile=settings.profile,
            clock=clock,
            telemetry=telemetry,
        )
        service = SettlementService(address)
        return Invocations(engine, service, profile=settings.profile, clock=clock)

    of_loop = _one_for_each_loop(invocations)

    async def handle(message: func.ServiceBusMessage, context: func.Context) -> None:
        await of_loop().handle(message, context)

    return blueprint(consumer.name, queue_name=queue_name, connection=connection, handle=handle)


@cache
def shared_connection(settings: CosmosSettings) -> CosmosConnection:
    """One for all functions of this process, and for as long as it lasts."""
    return CosmosConnection(settings)


def _set_up_logging() -> None:
    # The worker's root logger is at INFO, where azure-core logs every request with its headers.
    logging.getLogger("azure.core.pipeline.policies.http_logging_policy").setLevel(logging.WARNING)
    if os.environ.get("AZURE_FUNCTIONS_ENVIRONMENT") == "Development":  # func start: text alone
        logging.getLogger(LOGGER).addFilter(tell_fields)


def _one_for_each_loop(make: Callable[[], Invocations]) -> Callable[[], Invocations]:
    """Connections belong to the event loop on which they were made."""
    made: WeakKeyDictionary[asyncio.AbstractEventLoop, Invocations] = WeakKeyDictionary()

    def of_running_loop() -> Invocations:
        loop = asyncio.get_running_loop()
        if loop not in made:
            made[loop] = make()
        return made[loop]

    return of_running_loop


def _resolved(queue_name: str) -> str:
    """The queue's name as the host reads it."""
    names = re.findall("%([^%]+)%", queue_name)
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise SettingsError(
            [f"{name} is missing; legal is, for example, {name}=orders" for name in missing]
        )
    return re.sub("%([^%]+)%", lambda found: os.environ[found[1]], queue_name)
