"""Faults on order: what goes wrong, at which operation, and how often."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation that an emulator is about to carry out.

    Attributes:
        name: Its name; each emulator lists its own in its documentation.
        entity: The queue, or ``database/container``.
        key: The MessageId, or the document's id, where one is known.
    """

    name: str
    entity: str
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The connection is cut, before the operation took effect or after."""

    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The operation, and its answer, come late by so many seconds of real time."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """No answer ever comes; the operation took effect or it did not."""

    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """The operation is answered with an error.

    Attributes:
        code: An HTTP status (Cosmos DB) or an AMQP error condition (Service Bus).
        sub_status: Cosmos DB's ``x-ms-substatus``.
        retry_after: Seconds that the answer asks the client to wait.
        applied: The operation took effect all the same.

    Raises:
        ValueError: The code is neither an error's status nor a condition.
    """

    code: int | str
    sub_status: int = 0
    retry_after: float | None = None
    applied: bool = False

    def __post_init__(self) -> None:
        """Refuses a code that no answer could carry."""
        is_status = isinstance(self.code, int) and 400 <= self.code < 600
        is_condition = isinstance(self.code, str) and ":" in self.code
        if not is_status and not is_condition:
            raise ValueError(
                f"{self.code!r} is neither an HTTP status from 400 to 599 nor an AMQP error "
                "condition such as amqp:not-found"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """What holds for a time ends early. Of Service Bus alone.

    A message's lock, or in a session the session's: as soon as the message is delivered, or just
    before it is settled. So a copy is handed out while the first is being handled, a lock is lost
    that its holder relies on, or, with ``times=None``, deliveries wear out at once.

    When a message is sent: what duplicate detection remembers of its id.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtake:
    """A message is delivered after the one behind it, if there is one. Of Service Bus alone."""


Action = Drop | Delay | Hang | Fail | Lapse | Overtake


@dataclass(eq=False, slots=True, kw_only=True)
class Fault:
    """An action and the operations that it befalls.

    Attributes:
        action: What goes wrong.
        operation: Name of the operations, ``*`` and ``?`` as in file names.
        entity: Their entity, likewise.
        key: Their MessageId or document id; ``None`` matches all.
        where: A last condition, for faults set from Python.
        skip: So many matching operations are let through first.
        times: So many are then befallen; ``None`` means every one until removed.
        hits: How many it has befallen.
    """

    action: Action
    operation: str = "*"
    entity: str = "*"
    key: str | None = None
    where: Callable[[Operation], bool] | None = None
    skip: int = 0
    times: int | None = 1
    hits: int = field(default=0, init=False)
    _seen: int = field(default=0, init=False)

    def as_json(self) -> dict[str, Any]:
        """The fault as the admin endpoint shows it; a condition in Python it cannot show."""
        kind = type(self.action).__name__.lower()
        return {
            "action": {"kind": kind} | asdict(self.action),
            "operation": self.operation,
            "entity": self.entity,
            "key": self.key,
            "skip": self.skip,
            "times": self.times,
            "hits": self.hits,
        }

    def _matches(self, operation: Operation) -> bool:
        return (
            fnmatchcase(operation.name, self.operation)
            and fnmatchcase(operation.entity, self.entity)
            and self.key in (None, operation.key)
            and (self.where is None or self.where(operation))
        )

    def _strikes(self, operation: Operation) -> bool:
        if (self.times is not None and self.hits >= self.times) or not self._matches(operation):
            return False
        self._seen += 1
        if self._seen <= self.skip:
            return False
        self.hits += 1
        return True


class Faults:
    """The faults in force; each operation asks once whether one befalls it."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def __iter__(self) -> Iterator[Fault]:
        return iter(tuple(self._faults))

    def add(self, action: Action, **which: Any) -> Fault:
        """Puts a fault in force; the keywords are those of `Fault`."""
        fault = Fault(action=action, **which)
        self._faults.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Lifts one fault."""
        self._faults.remove(fault)

    def clear(self) -> None:
        """Lifts all faults."""
        self._faults.clear()

    def strike(self, operation: Operation) -> Action | None:
        """What befalls this operation: the first fault in force that matches it."""
        return next((fault.action for fault in self if fault._strikes(operation)), None)

    def failure_of(self, part: Operation) -> Fail | None:
        """What befalls a part of an operation, which has no answer of its own to be cut or late."""
        for fault in self:
            if isinstance(fault.action, Fail) and fault._strikes(part):
                return fault.action
        return None
