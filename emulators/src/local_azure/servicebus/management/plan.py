"""What a request comes to: an operation that faults may befall, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from local_azure.servicebus.management.body import Body

if TYPE_CHECKING:
    from local_azure.clock import Clock

E = TypeVar("E")

Effect = Callable[[], Body | None]
"""Does what was asked for; ``None`` answers that there is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An operation by the name that faults know, the message it is about, and its effect."""

    operation: str
    effect: Effect
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[E]):
    """A request about an entity."""

    operation: str
    entity: E
    body: Body
    clock: Clock

    @property
    def now(self) -> float:
        """The emulator's time."""
        return self.clock.now()

    def plan(self, effect: Effect, *, name: str | None = None, key: str | None = None) -> Plan:
        """A plan under the request's own name, or the one that links use for the same."""
        return Plan(operation=name or self.operation, effect=effect, key=key)
