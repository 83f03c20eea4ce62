from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acceptance.shop import open_shop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.acceptance.shop import Shop


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    async with open_shop() as opened:
        yield opened
