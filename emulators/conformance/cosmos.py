"""The pytest plugin that gives the tests of azure-cosmos an account to run against."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Final

import pytest

from local_azure.background import BackgroundLoop
from local_azure.cosmos import LocalCosmos

_RUNNING: Final = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Starts the account; the tests' own conftest.py connects as soon as it is imported."""
    loop = _RUNNING.enter_context(BackgroundLoop())
    cosmos = _RUNNING.enter_context(loop.entered(LocalCosmos()))
    os.environ |= {"ACCOUNT_HOST": cosmos.endpoint, "ACCOUNT_KEY": cosmos.key}


def pytest_unconfigure() -> None:
    """Stops it."""
    _RUNNING.close()
