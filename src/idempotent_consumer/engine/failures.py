"""How often a message's handler has failed in this process."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from idempotent_consumer.core.outcome import OutcomeName

if TYPE_CHECKING:
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.outcome import Outcome


class Failures:
    """Counts them: not deliveries, which an outage uses up as well.

    Args:
        remembered: So many messages are; the one longest without a failure goes first.
    """

    def __init__(self, remembered: int = 10_000) -> None:
        self._remembered = remembered
        self._counts: OrderedDict[int | str | None, int] = OrderedDict()

    def count(self, delivery: Delivery, outcome: Outcome) -> int:
        """The failures of this message so far, this outcome included."""
        copy = delivery.sequence_number or delivery.message_id
        failures = self._counts.pop(copy, 0)
        if outcome.name is OutcomeName.FAILED:
            failures += 1
        if failures:
            self._counts[copy] = failures
        if len(self._counts) > self._remembered:
            self._counts.popitem(last=False)
        return failures
