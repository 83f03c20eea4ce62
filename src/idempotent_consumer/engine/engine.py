"""One delivery in, one settlement out."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from idempotent_consumer.core.decide import Stage, decide, stage_of
from idempotent_consumer.core.judge import Attempt, judge_commit, judge_read
from idempotent_consumer.core.outcome import Outcome, failed, rejected
from idempotent_consumer.core.plan import RefusedPlan
from idempotent_consumer.core.reasons import Rejected
from idempotent_consumer.engine.events import Handled
from idempotent_consumer.engine.failures import Failures
from idempotent_consumer.engine.stores import CALL_LIMIT, Retrying, TimeLimited, Watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from idempotent_consumer.core.consumer import Consumer
    from idempotent_consumer.core.delivery import Delivery
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.core.request import Request
    from idempotent_consumer.engine.circuit import Circuit
    from idempotent_consumer.engine.ports import Clock, Settler, Store, Telemetry

Result = TypeVar("Result")

_PACKAGE = Path(__file__).parents[1]


class Engine:
    """Handles the deliveries of one consumer.

    Args:
        chance: Draws between 0 and 1, for the jitter of retries.
        new_token: Draws an attempt token that was never drawn before.
    """

    def __init__(
        self,
        consumer: Consumer,
        store: Store,
        circuit: Circuit,
        *,
        profile: Profile,
        clock: Clock,
        telemetry: Telemetry,
        chance: Callable[[], float],
        new_token: Callable[[], str],
    ) -> None:
        self.circuit = circuit
        self._consumer = consumer
        self._store = Watched(TimeLimited(store), circuit)
        self._profile = profile
        self._clock = clock
        self._telemetry = telemetry
        self._chance = chance
        self._new_token = new_token
        self._failures = Failures()

    async def handle(
        self, delivery: Delivery, settler: Settler, *, since: float | None = None
    ) -> Outcome:
        """Finds the outcome, settles accordingly, and reports both.

        Args:
            since: When the budget began to run, by the clock's `monotonic`; now, unless the
                delivery has waited already.
        """
        began = self._clock.monotonic() if since is None else since
        with self._telemetry.handling(delivery):
            request = self._attempted(lambda: self._consumer.read(delivery))
            if isinstance(request, Outcome):
                outcome, key = request, None
            else:
                outcome, key = await self._find_outcome(request, began), request.key
            settlement = decide(outcome, self._stage(delivery, outcome))
            settled = await settler.settle(settlement)
            self._telemetry.record(
                Handled(
                    consumer=self._consumer.name,
                    key=key,
                    delivery=delivery,
                    outcome=outcome,
                    settlement=settlement,
                    settled=settled,
                    seconds=self._clock.monotonic() - began,
                )
            )
        return outcome

    async def _find_outcome(self, request: Request, began: float) -> Outcome:
        """May return anywhere: it settles nothing."""
        attempt = self._new_attempt(request)
        store = self._retrying_store(began)
        redelivered = request.delivery.delivery_count > 1
        if redelivered and (known := judge_read(await store.read(request.place), attempt)):
            return known
        plan = self._attempted(lambda: self._plan(attempt))
        if not isinstance(plan, Outcome):
            return judge_commit(await store.commit(plan), attempt)
        if redelivered:
            return plan
        return judge_read(await store.read(request.place), attempt) or plan

    def _stage(self, delivery: Delivery, outcome: Outcome) -> Stage:
        return stage_of(
            failures=self._failures.count(delivery, outcome),
            deliveries_left=self._profile.max_deliveries - delivery.delivery_count,
        )

    def _new_attempt(self, request: Request) -> Attempt:
        return Attempt(
            request=request,
            token=self._new_token(),
            received_at=self._clock.now(),
            immutable=self._consumer.marker.immutable,
        )

    def _plan(self, attempt: Attempt) -> Plan:
        marker = attempt.request.marker(attempt.token, self._clock.now())
        retention = self._profile.retention
        return self._consumer.plan(
            attempt.request, marker, None if retention is None else int(retention.total_seconds())
        )

    def _attempted(self, step: Callable[[], Result]) -> Result | Outcome:
        """The step's result, or the outcome that its exception stands for."""
        try:
            return step()
        except Rejected as rejection:
            return rejected(rejection.reason, rejection.detail)
        except RefusedPlan as refusal:
            return failed("refused plan", str(refusal))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001  # anything; a panic in Rust is no Exception
            return failed("handler error", _where(error))

    def _retrying_store(self, began: float) -> Retrying:
        working_time = self._profile.budget.total_seconds() - CALL_LIMIT
        return Retrying(
            self._store, self._clock, deadline=began + working_time, chance=self._chance
        )


def _where(error: BaseException) -> str:
    """The error's type and the user's line that raised it; its text may quote the message."""
    lines = traceback.extract_tb(error.__traceback__)
    line = next((line for line in reversed(lines) if not _is_ours(line)), lines[-1])
    return f"{type(error).__name__} in {line.name} ({Path(line.filename).name}:{line.lineno})"


def _is_ours(line: traceback.FrameSummary) -> bool:
    return Path(line.filename).is_relative_to(_PACKAGE)
