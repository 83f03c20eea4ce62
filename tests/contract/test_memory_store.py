"""The store in memory keeps the promises of a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.testing import MemoryStore, Trouble
from tests.contract.store_contract import StoreContract

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import JsonObject

FAULTS = {
    403: Fault(kind=FaultKind.MISCONFIGURED, cause="403"),
    429: Fault(kind=FaultKind.THROTTLED, cause="429", retry_after=0.25),
    500: Fault(kind=FaultKind.UNAVAILABLE, cause="500"),
}


@dataclass
class MemoryHarness:
    store: MemoryStore = field(default_factory=MemoryStore)

    def documents(self) -> list[JsonObject]:
        return list(self.store.documents.values())

    def fail_next(self, call: str, status: int, *, applied: bool = False) -> None:
        self.store.troubles.append(Trouble(fault=FAULTS[status], call=call, applied=applied))


class TestMemoryStore(StoreContract):
    @pytest.fixture
    async def harness(self) -> MemoryHarness:
        return MemoryHarness()
