"""What is to be said of Cosmos DB: whether it answers, and how the container was made."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from idempotent_consumer.core.commit import Fault, FaultKind
from idempotent_consumer.doctor.advice import ContainerAdvice
from idempotent_consumer.doctor.facts import Account, DeployedContainer
from idempotent_consumer.doctor.findings import note, ok, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from idempotent_consumer.doctor.facts import Facts
    from idempotent_consumer.doctor.findings import Finding

HARMS_OF_SKEW = (
    (timedelta(minutes=5), "tokens are refused"),
    (timedelta(seconds=5), "locks are renewed too early or too late"),
)
"""What a clock does that is off by so much or more; the worst first."""


def account_findings(facts: Facts) -> Iterator[Finding]:
    """Of the account, then of the container."""
    advice = ContainerAdvice(facts.endpoint, facts.container)
    match facts.account:
        case Fault() as fault:
            yield _met("account", f"{facts.endpoint} does not answer", fault, advice)
        case Account() as account:
            yield ok("account", f"{facts.endpoint} answers")
            yield _write_regions(account, advice)
            yield _clock(account)
            yield from _container_findings(account, advice)
        case _:
            assert_never(facts.account)


def _container_findings(account: Account, advice: ContainerAdvice) -> Iterator[Finding]:
    path = advice.container.path
    match account.container:
        case Fault() as fault:
            yield _met("container", f"{path} is not shown", fault, advice)
        case DeployedContainer() as container:
            yield ok("container", f"{path} is there")
            for check in CONTAINER_CHECKS:
                yield check(container, advice)
        case _:
            assert_never(account.container)


def _met(check: str, what: str, fault: Fault, advice: ContainerAdvice) -> Finding:
    return problem(
        check,
        f"{what}: {fault.cause}",
        fault.advice or advice.reach_account(),
        unreachable=fault.kind is not FaultKind.MISCONFIGURED,
    )


def _write_regions(account: Account, advice: ContainerAdvice) -> Finding:
    if account.several_write_regions:
        what = "several: in each of them the same message can be applied"
        return problem("write regions", what, advice.keep_one_write_region())
    return ok("write regions", "one")


def _clock(account: Account) -> Finding:
    if account.skew is None:
        return note("clock", "the account's answers tell no time to compare with")
    off = abs(account.skew)
    side = "ahead of" if account.skew > timedelta() else "behind"
    what = f"{off.total_seconds():.0f} s {side} Cosmos DB's"
    harm = next((harm for least, harm in HARMS_OF_SKEW if off >= least), None)
    if harm is None:
        return ok("clock", f"{what}; up to {HARMS_OF_SKEW[-1][0].total_seconds():.0f} s do no harm")
    return problem("clock", f"{what}: {harm}", "synchronise this machine's clock (NTP)")


def _partition_key(container: DeployedContainer, advice: ContainerAdvice) -> Finding:
    paths, declared = ", ".join(container.partition_paths), advice.container.partition_path
    if paths == declared:
        return ok("partition key", paths)
    what = f"is {paths}, the consumer declares {declared}"
    return problem("partition key", what, advice.declare_path())


def _hash_version(container: DeployedContainer, advice: ContainerAdvice) -> Finding:
    version = container.hash_version
    if version == 1:
        return problem("hash version", "is 1, must be 2", advice.hash_whole_values())
    return ok("hash version", str(version))


def _time_to_live(container: DeployedContainer, advice: ContainerAdvice) -> Finding:
    match container.default_ttl:
        case None:
            what = "is off, so what is to expire stays for ever"
            return problem("time to live", what, advice.switch_expiry_on())
        case -1:
            return ok("time to live", "on, without a default")
        case seconds:
            what = f"documents without a ttl of their own expire after {seconds} s"
            return note("time to live", what, advice.switch_expiry_on())


def _unique_keys(container: DeployedContainer, _: ContainerAdvice) -> Finding:
    if container.unique_keys:
        what = (
            "the container has some: a new message that meets one of them is dead-lettered "
            "ConflictNotDuplicate"
        )
        return note("unique keys", what)
    return ok("unique keys", "none but the id")


def _reading(container: DeployedContainer, advice: ContainerAdvice) -> Finding:
    if container.reading is None:
        return ok("reading", "documents can be read; whether they can be written is not tried")
    what = f"documents of {advice.container.path} cannot be read"
    return _met("reading", what, container.reading, advice)


CONTAINER_CHECKS: tuple[Callable[[DeployedContainer, ContainerAdvice], Finding], ...] = (
    _partition_key,
    _hash_version,
    _time_to_live,
    _unique_keys,
    _reading,
)
