"""The pytest plugin that gives the tests of azure-servicebus a namespace to run against."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partialmethod
from typing import TYPE_CHECKING, Any, Final

import pytest
from azure.servicebus import ServiceBusClient
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient

from local_azure.background import BackgroundLoop
from local_azure.servicebus import LocalServiceBus

if TYPE_CHECKING:
    from collections.abc import Callable

_RUNNING: Final = ExitStack()
_LOOP: Final = BackgroundLoop()
BUS: Final = LocalServiceBus({})
"""The namespace; the tests' own preparers create entities in it with `on_loop`."""


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Starts the namespace, and lets clients connect that do not ask for TLS."""
    _RUNNING.enter_context(_LOOP)
    _RUNNING.enter_context(_LOOP.entered(BUS))
    for client in (ServiceBusClient, AsyncServiceBusClient):
        constructor = partialmethod(client.__init__, use_tls=False)
        setattr(client, "__init__", constructor)  # noqa: B010 - mypy lets none be assigned


def pytest_unconfigure() -> None:
    """Stops it."""
    _RUNNING.close()


def on_loop(work: Callable[..., None], *arguments: Any) -> None:
    """Does something on the loop that the namespace listens on."""

    async def run() -> None:
        work(*arguments)

    _LOOP.run(run())
