"""What came of a scene, from three witnesses: the worker's log, the broker and the store."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from shop.demo.facts import Delivery, Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from local_azure.events import Event

Line = dict[str, Any]
"""A line of the worker's log."""

Witness = TypeVar("Witness")
Name = TypeVar("Name")

HANDLED = "message handled"

RELEASED = "released"
ENDS: Mapping[str, str] = MappingProxyType(
    {
        "completed": "complete",
        "dead_lettered": "dead_letter",
        "abandoned": "abandon",
        RELEASED: "release",
        "lock_expired": "lock expired",
    }
)
"""How a delivery can end, by the event that the broker logs."""

OUTAGE = "503"
"""A status that a client meets again and again, nobody can say how often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen while a scene was played.

    Attributes:
        events: Of both emulators.
        lines: Of the worker's log.
        documents: All that are stored.
    """

    events: Sequence[Event]
    lines: Sequence[Line]
    documents: Sequence[dict[str, Any]]

    def facts(self, message_ids: Sequence[str | None], order_ids: Sequence[str]) -> Facts:
        """What it tells of these messages and orders."""
        broker = [
            event
            for event in self.events
            if event.service == "servicebus" and event.key in message_ids
        ]
        return Facts(
            deliveries=tuple(_deliveries(broker, self.lines)),
            dropped=sum(event.name == "duplicate_dropped" for event in broker),
            store_calls=tuple(_store_calls(self.events, order_ids)),
            documents=sum(document["orderId"] in order_ids for document in self.documents),
        )


def _deliveries(broker: Sequence[Event], lines: Sequence[Line]) -> Iterator[Delivery]:
    """Each that the broker made, with its end, if any, and with what the worker told of it.

    One that was released does not count, as it does not for the broker: it came too late for
    the call that asked for it, and the SDK gave it back.
    """
    ends = _grouped((event for event in broker if event.name in ENDS), by=lambda event: event.key)
    told = _grouped((line for line in lines if line["message"] == HANDLED), by=_of_line)
    for delivered in (event for event in broker if event.name == "delivered"):
        end = next(ends[delivered.key], None)
        if end is not None and end.name == RELEASED:
            continue
        line = next(told[_of_event(delivered)], {})
        yield Delivery(
            outcome=line.get("outcome", ""),
            cause=line.get("cause", ""),
            settlement=ENDS[end.name] if end else "",
            reason=(end.detail or "") if end else "",
        )


def _of_line(line: Line) -> tuple[str | None, int]:
    return line.get("message_id"), line["delivery_count"]


def _of_event(delivered: Event) -> tuple[str | None, int]:
    """The broker counts the deliveries before, the worker this one too."""
    return delivered.key, int(delivered.detail or 0) + 1


def _grouped(
    witnesses: Iterable[Witness], *, by: Callable[[Witness], Name]
) -> Mapping[Name, Iterator[Witness]]:
    """The witnesses of each name, one after the other."""
    groups: defaultdict[Name, list[Witness]] = defaultdict(list)
    for witness in witnesses:
        groups[by(witness)].append(witness)
    return defaultdict(lambda: iter(()), {name: iter(group) for name, group in groups.items()})


def _store_calls(events: Sequence[Event], order_ids: Sequence[str]) -> Iterator[str]:
    calls = [
        f"{event.name} {event.detail}"
        for event in events
        if event.service == "cosmos" and event.key in order_ids
    ]
    for call, run in groupby(calls):
        if call.endswith(OUTAGE):
            yield f"{call} ..."
        else:
            yield from run
