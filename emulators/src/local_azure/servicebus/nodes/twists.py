"""What the faults that only Service Bus knows come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.faults import Lapse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from local_azure.clock import Clock
    from local_azure.servicebus.broker.intake import Intake
    from local_azure.servicebus.broker.queue import Queue
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.gate import Twists


def forgetting(entity: Intake[WireContent], contents: Sequence[WireContent]) -> Twists:
    """A `Lapse` where messages are sent: duplicate detection takes none of them for a copy."""
    if not entity.properties.requires_duplicate_detection:
        return {}
    return {Lapse: lambda: entity.forget(contents)}


def lapsing(queue: Queue[WireContent], tokens: Sequence[UUID], clock: Clock) -> Twists:
    """A `Lapse` where locks are relied on: they end, or in a session the session's does."""
    held = [token for token in tokens if queue.locked(token) is not None]

    def lapse() -> None:
        for token in held:
            queue.drop_lock(token, clock.now())

    return {Lapse: lapse} if held else {}
