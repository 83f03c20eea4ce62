"""What the numbers of a deployment promise, taken together and with the queue as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from idempotent_consumer.doctor.facts import DeployedQueue
from idempotent_consumer.doctor.findings import note, ok, problem
from idempotent_consumer.doctor.properties import duration_text
from idempotent_consumer.settings import PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.doctor.facts import Facts
    from idempotent_consumer.doctor.findings import Finding

_AS_PROMISED = "give the queue the profile's numbers, or change the profile"


def promise_findings(facts: Facts) -> Iterator[Finding]:
    """Of the profile, and of what follows from it."""
    profile = _as_deployed(facts)
    yield _profile(facts)
    yield _outage(profile)
    yield _retention(profile)


def _as_deployed(facts: Facts) -> Profile:
    """The profile, with the numbers of the queue where it shows them."""
    queue = facts.broker.queue
    if not isinstance(queue, DeployedQueue):
        return facts.profile
    return replace(
        facts.profile,
        lock=queue.lock,
        max_deliveries=queue.max_deliveries,
        lifetime=queue.lifetime,
    )


def _profile(facts: Facts) -> Finding:
    if facts.warnings:
        mend = f"set {PROFILE} to a profile of infra/contract.json"
        return note("profile", "; ".join(facts.warnings), mend)
    return ok("profile", f"{facts.profile.name}; its numbers agree with each other")


def _outage(profile: Profile) -> Finding:
    what = (
        f"{profile.max_deliveries} deliveries of {duration_text(profile.budget)} endure a store "
        f"outage of {duration_text(profile.endured)}; wanted: {duration_text(profile.outage)}"
    )
    if profile.endured < profile.outage:
        return problem("outage", what, _AS_PROMISED)
    return ok("outage", what)


def _retention(profile: Profile) -> Finding:
    lives, needed = profile.retention, profile.retention_needed()
    if lives is None:
        return ok("retention", "markers live without end")
    wanted = duration_text(needed) if needed else "without end, as messages do"
    what = f"markers live {duration_text(lives)}; wanted: {wanted}"
    if needed is None or lives < needed:
        return problem("retention", what, _AS_PROMISED)
    return ok("retention", what)
