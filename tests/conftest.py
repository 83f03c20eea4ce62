"""What holds for every test: nothing blocks the event loop, and CI draws the same examples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis
import pytest
from blockbuster import BlockBuster

if TYPE_CHECKING:
    from collections.abc import Iterator

# No deadlines: how long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "local")


@pytest.fixture(scope="session", autouse=True)
def nothing_blocks_the_event_loop() -> Iterator[None]:
    """Raise `BlockingError` where our code blocks a running loop; elsewhere it may block."""
    blockbuster = BlockBuster(["idempotent_consumer", "local_azure", "shop"])
    blockbuster.activate()
    yield
    blockbuster.deactivate()
