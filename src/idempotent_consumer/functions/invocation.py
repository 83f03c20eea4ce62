"""Handles invocations of a function whose trigger is a Service Bus message."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from idempotent_consumer.core.decide import Abandon
from idempotent_consumer.core.profile import LAST_MOMENT
from idempotent_consumer.engine.settled import Settled
from idempotent_consumer.engine.stores import CALL_LIMIT
from idempotent_consumer.functions.delivery import to_delivery
from idempotent_consumer.functions.settlement import HostSettler
from idempotent_consumer.functions.trace import host_span

if TYPE_CHECKING:
    import azure.functions as func

    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.outcome import Outcome
    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.engine.engine import Engine
    from idempotent_consumer.engine.ports import Clock
    from idempotent_consumer.functions.settlement import SettlementService


LAST_WORD = 1.0
"""Seconds that are left, whatever the host does, to report what became of a message."""


class InvocationFailed(Exception):
    """Makes the invocation fail, so that the host shows it, and abandons what is not settled."""


class Invocations:
    """Handles the invocations of one function, each of them one delivery.

    Args:
        profile: Its budget is how long a delivery waits for a store that is out; the
            function timeout is when the host ends the process.
    """

    def __init__(
        self, engine: Engine, service: SettlementService, *, profile: Profile, clock: Clock
    ) -> None:
        self._engine = engine
        self._service = service
        self._clock = clock
        self._patience = profile.budget.total_seconds() - CALL_LIMIT
        self._limit = (profile.function_timeout - LAST_MOMENT).total_seconds()

    async def handle(self, message: func.ServiceBusMessage, context: func.Context) -> None:
        """Handles one; returns where the message is settled, or is to wait for its lock's end.

        Raises:
            InvocationFailed: The message was abandoned, or nobody knows what became of it.
        """
        delivery = to_delivery(message)
        try:
            async with asyncio.timeout(self._limit) as limit:
                with host_span(context):
                    await self._handle(delivery)
        except TimeoutError:
            if not limit.expired():
                raise
            raise InvocationFailed(
                f"stopped after {self._limit:.0f} s, before the function timeout; "
                "the message is delivered again"
            ) from None

    async def _handle(self, delivery: Delivery) -> None:
        began = self._clock.monotonic()
        settler = HostSettler(
            self._service,
            delivery.lock_token,
            clock=self._clock,
            deadline=began + self._limit - LAST_WORD,
        )
        async with AsyncExitStack() as stack:
            await self._wait_for_the_store(stack)
            outcome = await self._engine.handle(delivery, settler, since=began)
        _check(outcome, settler)

    async def _wait_for_the_store(self, stack: AsyncExitStack) -> None:
        """Waits, while the host renews the lock, until there is time for one last call."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await stack.enter_async_context(self._engine.circuit.admission())


def _check(outcome: Outcome, settler: HostSettler) -> None:
    said = " ".join(filter(None, (outcome.name, outcome.cause, outcome.description)))
    if settler.settled is Settled.UNKNOWN:
        raise InvocationFailed(f"{said}; the host did not confirm the settlement: {settler.cause}")
    if isinstance(settler.settlement, Abandon):
        raise InvocationFailed(f"{said}; the message was abandoned, to be delivered again")
