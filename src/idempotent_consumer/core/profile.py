"""The numbers that queue, host and retention agree on, and the check that they do.

One profile of `infra/contract.json` arrives as one setting. Where it is missing, Service
Bus's own defaults are assumed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LOCK = timedelta(minutes=5)
SHORTEST_BUDGET = timedelta(seconds=20)
MAX_WINDOW = timedelta(hours=1)
LAST_MOMENT = timedelta(seconds=10)
"""Between the end of an invocation and the function timeout, with which the host would end the
whole process."""


class InvalidProfile(ValueError):
    """The profile is no profile, or its numbers contradict each other.

    Attributes:
        problems: Each of them, in words.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the deployment promises, in the letters of the retention rule.

    Attributes:
        lock: L, how long the broker keeps a delivery locked without renewal.
        max_deliveries: N, the broker's maxDeliveryCount.
        lifetime: T, a message's time to live; ``None`` for ever.
        window: Duplicate detection's; ``None`` where it is off.
        budget: How long one delivery is worked on, retries included.
        function_timeout: When the host ends an invocation.
        renewal: How long the host renews a lock; with L it bounds P, the longest processing.
        horizon: H, the oldest re-send of a producer.
        resubmission_age: S, the oldest dead letter that is sent again.
        resubmissions: k, how often one is.
        retention: R, how long a marker lives; ``None`` for ever.
        margin: Added to what retention must cover.
        outage: The longest store outage that must cost no message its deliveries.
    """

    name: str = "Service Bus defaults"
    lock: timedelta = timedelta(minutes=1)
    max_deliveries: int = 10
    lifetime: timedelta | None = None
    window: timedelta | None = None
    budget: timedelta = timedelta(minutes=4)
    function_timeout: timedelta = timedelta(minutes=5)
    renewal: timedelta = timedelta(minutes=6)
    horizon: timedelta = timedelta()
    resubmission_age: timedelta = timedelta()
    resubmissions: int = 0
    retention: timedelta | None = None
    margin: timedelta = timedelta()
    outage: timedelta = timedelta()

    @property
    def endured(self) -> timedelta:
        """The longest store outage that costs no message its last delivery."""
        return self.max_deliveries * self.budget

    def retention_needed(self) -> timedelta | None:
        """R >= H + (k+1)(T + N max(L, P)) + k S + margin; ``None`` where T has no end.

        A message waits up to T in the queue, is then worked on up to N times, and may be
        sent again, late, k times: its marker must outlive all of that.
        """
        if self.lifetime is None:
            return None
        one_life = self.lifetime + self.max_deliveries * max(self.lock, self.renewal)
        again = self.resubmissions * (one_life + self.resubmission_age)
        return self.horizon + one_life + again + self.margin

    def check(self) -> None:
        """Raises `InvalidProfile` with every contradiction."""
        problems = [text for text, broken in self._rules().items() if broken]
        if problems:
            raise InvalidProfile([f"profile {self.name}: {text}" for text in problems])

    def _rules(self) -> dict[str, bool]:
        needed = self.retention_needed()
        return {
            f"markers live {self.retention}, but must outlive {needed or 'messages without end'}": (
                self.retention is not None and (needed is None or self.retention < needed)
            ),
            f"{self.max_deliveries} deliveries of {self.budget} do not outlast an outage of "
            f"{self.outage}": self.endured < self.outage,
            "a message is delivered at least twice": self.max_deliveries < 2,
            f"a budget of {self.budget} leaves no time for one store call": (
                self.budget < SHORTEST_BUDGET
            ),
            f"the budget of {self.budget} does not end before the function timeout of "
            f"{self.function_timeout}, less {LAST_MOMENT.seconds} s": (
                self.budget + LAST_MOMENT > self.function_timeout
            ),
            f"locks are renewed for {self.renewal}, functions run for {self.function_timeout}": (
                self.renewal < self.function_timeout
            ),
            f"a lock of {self.lock} is longer than Service Bus grants": self.lock > MAX_LOCK,
            "a lock lasts for a while": self.lock <= timedelta(),
            f"duplicate detection looks back {self.window}, producers re-send for {self.horizon}": (
                self.window is not None and not self.horizon <= self.window <= MAX_WINDOW
            ),
        }

    @classmethod
    def parse(cls, text: str) -> Profile:
        """The profile in a setting's JSON.

        Raises:
            InvalidProfile: It is no profile, or its numbers contradict each other.
        """
        try:
            profile = cls._read(json.loads(text))
            profile.check()
        except InvalidProfile:
            raise
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InvalidProfile([f"the profile cannot be read: {error!r}"]) from None
        return profile

    @classmethod
    def _read(cls, contract: Mapping[str, Any]) -> Profile:
        queue, host = contract["queue"], contract["host"]
        return cls(
            name=contract["profile"],
            lock=duration(queue["lockDuration"]),
            max_deliveries=_count(queue["maxDeliveryCount"]),
            lifetime=duration(queue["defaultMessageTimeToLive"]),
            window=duration(queue["duplicateDetectionHistoryTimeWindow"]),
            budget=duration(host["processingBudget"]),
            function_timeout=duration(host["functionTimeout"]),
            renewal=duration(host["maxAutoLockRenewalDuration"]),
            horizon=duration(contract["producer"]["maxRetryHorizon"]),
            resubmission_age=duration(contract["resubmission"]["maxAge"]),
            resubmissions=_count(contract["resubmission"]["maxTimes"]),
            retention=duration(contract["retention"]["markerTimeToLive"]),
            margin=duration(contract["retention"]["margin"]),
            outage=duration(contract["outage"]["endured"]),
        )


def _count(number: object) -> int:
    """A number of times.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{number!r} is no number of times")
    return number


_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)


def duration(text: str) -> timedelta:
    """An ISO 8601 duration of days, hours, minutes and seconds, such as ``P1DT12H``.

    Raises:
        ValueError: It is none.
    """
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        raise ValueError(f"{text!r} is no duration such as PT1M or P14D")
    return timedelta(**{unit: int(digits) for unit, digits in found.groupdict("0").items()})
