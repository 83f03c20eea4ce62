"""The stand-alone worker, as its user sees it."""

from __future__ import annotations

import asyncio
import logging
import os
import random
from contextlib import aclosing
from typing import TYPE_CHECKING

from idempotent_consumer.engine.clock import SystemClock
from idempotent_consumer.servicebus.receiver import QueueReceiver
from idempotent_consumer.settings import read_settings
from idempotent_consumer.telemetry import LineFormatter, LogTelemetry, log_to, log_warnings
from idempotent_consumer.wiring.assembly import CosmosConnection, assemble
from idempotent_consumer.wiring.service_bus import service_bus
from idempotent_consumer.worker.host import host
from idempotent_consumer.worker.worker import QueueWorker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from idempotent_consumer.core.consumer import Consumer


class Worker:
    """Handles the messages of a queue in this process, until SIGTERM or Ctrl+C.

    Args:
        consumer: Handles them.
        queue_name: Where they come from.
        connection: The setting that holds the Service Bus connection.
        concurrency: So many are handled at a time.
        environment: The settings; left out, the process's own.

    Raises:
        SettingsError: With every problem of the settings.
        ValueError: The consumer has no handler.
    """

    def __init__(
        self,
        consumer: Consumer,
        *,
        queue_name: str,
        connection: str = "ServiceBus",
        concurrency: int = 16,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        consumer.check()
        self._consumer = consumer
        self._queue_name = queue_name
        self._concurrency = concurrency
        self._settings = read_settings(
            environment, service_bus=connection, cosmos=consumer.connection
        )

    def run(self) -> None:
        """Works until it is told to stop; logs to standard error where nothing else is set up."""
        if not logging.getLogger().handlers:
            log_to(logging.StreamHandler(), LineFormatter(), level=logging.INFO)
        asyncio.run(self.work())

    async def work(self) -> None:
        """Works on the running loop, until it is told to stop or cancelled."""
        settings = self._settings
        log_warnings(settings.warnings)
        telemetry = LogTelemetry(self._queue_name, digest_keys=settings.digest_keys)
        clock = SystemClock()
        async with (
            aclosing(CosmosConnection(settings.cosmos)) as cosmos,
            service_bus(settings.service_bus) as client,
        ):
            engine = assemble(
                self._consumer,
                cosmos.account,
                profile=settings.profile,
                clock=clock,
                telemetry=telemetry,
            )
            worker = QueueWorker(
                engine,
                QueueReceiver(client, self._queue_name, client_id=settings.service_bus.client_id),
                profile=settings.profile,
                clock=clock,
                telemetry=telemetry,
                chance=random.random,
                concurrency=self._concurrency,
            )
            await host(worker, blocked_limit=settings.profile.lock.total_seconds())
