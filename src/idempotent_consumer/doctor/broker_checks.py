"""What is to be said of Service Bus: whether it answers, and how the queue was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from idempotent_consumer.doctor.advice import QueueAdvice
from idempotent_consumer.doctor.facts import DeployedQueue
from idempotent_consumer.doctor.findings import ok, problem
from idempotent_consumer.doctor.properties import REQUIRED, WINDOW, shown, wanted_by
from idempotent_consumer.servicebus.diagnosis import Diagnosis

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from idempotent_consumer.doctor.facts import Broker, Facts
    from idempotent_consumer.doctor.findings import Finding
    from idempotent_consumer.doctor.properties import Property

UNREACHABLE = {"timeout", "unreachable"}
"""Causes by which the namespace did not answer at all."""


def broker_findings(facts: Facts) -> Iterator[Finding]:
    """Of the connection, then of each property of the queue."""
    broker = facts.broker
    advice = QueueAdvice(address=broker.address, profile=facts.profile, emulated=broker.emulated)
    yield _receiving(broker, advice)
    match broker.queue:
        case DeployedQueue() as queue:
            for each in _to_compare(facts, queue):
                yield _compared(each, queue, advice)
        case Diagnosis() as diagnosis:
            if not _is_missing(broker):  # which has been said
                yield _not_shown(diagnosis, broker, advice)
        case _:
            assert_never(broker.queue)


def _is_missing(broker: Broker) -> bool:
    return broker.receiving is not None and broker.receiving.cause == "not found"


def _receiving(broker: Broker, advice: QueueAdvice) -> Finding:
    match broker.receiving:
        case None:
            return ok("receiving", f"{broker.address} can be received from")
        case Diagnosis(cause=cause, advice=mend):
            return problem(
                "receiving",
                f"{broker.address} cannot be received from: {cause}",
                advice.create() if _is_missing(broker) else mend,
                unreachable=cause in UNREACHABLE,
            )


def _to_compare(facts: Facts, queue: DeployedQueue) -> Sequence[Property]:
    if facts.profile_is_assumed:
        return REQUIRED
    detects = queue.window is not None
    return [each for each in wanted_by(facts.profile) if detects or each is not WINDOW]


def _compared(each: Property, queue: DeployedQueue, advice: QueueAdvice) -> Finding:
    deployed, wanted = each.deployed(queue), each.wanted(advice.profile)
    if deployed == wanted:
        return ok(each.name, shown(deployed))
    return problem(each.name, f"is {shown(deployed)}, must be {shown(wanted)}", advice.change(each))


def _not_shown(diagnosis: Diagnosis, broker: Broker, advice: QueueAdvice) -> Finding:
    cause = diagnosis.cause
    return problem(
        "queue properties",
        f"{broker.management} does not show queue '{broker.address.queue}': {cause}",
        advice.show_properties(cause),
        unreachable=cause in UNREACHABLE,
    )
