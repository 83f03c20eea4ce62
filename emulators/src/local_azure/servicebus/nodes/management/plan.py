"""What a request comes to: an operation that faults may befall, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from local_azure.servicebus.nodes.gate import no_twists
from local_azure.servicebus.nodes.management.body import Body

if TYPE_CHECKING:
    from local_azure.clock import Clock
    from local_azure.servicebus.amqp.connection import Connection
    from local_azure.servicebus.broker.session_queue import SessionLock
    from local_azure.servicebus.nodes.gate import Twists

E = TypeVar("E")

Effect = Callable[[], Body | None]
"""Does what was asked for; ``None`` answers that there is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An operation by the name that faults know, the messages it is about, and its effect."""

    operation: str
    effect: Effect
    keys: Sequence[str | None] = (None,)
    twists: Callable[[], Twists] = no_twists


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[E]):
    """A request about an entity.

    Attributes:
        connection: Whose the request is.
        session_lock: The lock that who asks has of a session; raises `AmqpError` if it has none.
    """

    operation: str
    entity: E
    body: Body
    clock: Clock
    connection: Connection
    session_lock: Callable[[str], SessionLock]

    @property
    def now(self) -> float:
        """The emulator's time."""
        return self.clock.now()

    def plan(
        self,
        effect: Effect,
        *,
        name: str | None = None,
        keys: Sequence[str | None] = (None,),
        twists: Callable[[], Twists] = no_twists,
    ) -> Plan:
        """A plan under the request's own name, or the one that links use for the same."""
        return Plan(operation=name or self.operation, effect=effect, keys=keys, twists=twists)
