"""Faults on order: what goes wrong, at which operation, and how often."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Set

_MAX_SECONDS: Final = 366 * 24 * 60 * 60
_MAX_SUB_STATUS: Final = 65535
_MAX_COUNT: Final = 2**31 - 1
_MAX_CONDITION: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation that an emulator is about to carry out.

    Attributes:
        name: Its name; each emulator lists its own in its documentation.
        entity: The queue, or ``database/container``.
        key: The MessageId, or the document's id, where one is known.
        others: The same of what else a batch holds; a fault that matches any befalls the whole.
    """

    name: str
    entity: str
    key: str | None = None
    others: tuple[str | None, ...] = ()

    def parts(self) -> Iterator[Operation]:
        """The operation for each key that it is about."""
        yield self
        for key in self.others:
            yield replace(self, key=key, others=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The connection is cut, before the operation took effect or after."""

    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The operation, and its answer, come late by so many seconds of real time.

    Raises:
        ValueError: The time is negative, or longer than a year.
    """

    seconds: float

    def __post_init__(self) -> None:
        """Refuses what is no time to wait."""
        _check_seconds("seconds", self.seconds)


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
        applied: The operation took effect all the same; an operation of a transactional
            batch never does.

    Raises:
        ValueError: The code is neither an error's status nor a condition, or another value is
            none that an answer could carry.
    """

    code: int | str
    sub_status: int = 0
    retry_after: float | None = None
    applied: bool = False

    def __post_init__(self) -> None:
        """Refuses what no answer could carry."""
        is_status = isinstance(self.code, int) and 400 <= self.code < 600
        if not is_status and not _is_condition(self.code):
            raise ValueError(
                "the code is neither an HTTP status from 400 to 599 nor an AMQP error condition "
                "such as amqp:not-found"
            )
        if not 0 <= self.sub_status <= _MAX_SUB_STATUS:
            raise ValueError(f"sub_status is a number from 0 to {_MAX_SUB_STATUS}")
        if self.retry_after is not None:
            _check_seconds("retry_after", self.retry_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """What holds for a time ends early. Of Service Bus alone.

    A message's lock, or in a session the session's: as soon as the message is delivered, or just
    before its holder relies on it: settles, renews, reads or sets the session's state. So a copy
    is handed out while the first is being handled, a lock is lost that its holder relies on, or,
    with ``times=None``, deliveries wear out at once.

    When a message is sent or scheduled: what duplicate detection remembers of its id.
    It strikes only where there is something to end.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtake:
    """A message is delivered after the one behind it, if there is one. Of Service Bus alone."""


Action = Drop | Delay | Hang | Fail | Lapse | Overtake


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What the faults of an emulator can befall.

    Attributes:
        operations: For each operation by name, the kinds of action that have an effect on it.
        code: The type of a failure's code.
    """

    operations: Mapping[str, Set[type[Action]]]
    code: type[int] | type[str]

    def check(self, fault: Fault) -> None:
        """Raises `ValueError` for a fault that could never strike."""
        action, pattern = fault.action, fault.operation
        named = [name for name in self.operations if fnmatchcase(name, pattern)]
        if not named:
            known = ", ".join(sorted(self.operations))
            raise ValueError(f"there is no operation {pattern!r} here; there are {known}")
        if not any(type(action) in self.operations[name] for name in named):
            kind = type(action).__name__
            raise ValueError(f"{kind} has no effect on the operation {pattern!r} here")
        if isinstance(action, Fail) and not isinstance(action.code, self.code):
            wanted = "an HTTP status" if self.code is int else "an AMQP error condition"
            raise ValueError(f"the code of a failure is {wanted} here")


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

    Raises:
        ValueError: It would skip less than none, or befall none.
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

    def __post_init__(self) -> None:
        """Refuses counts with which it could not strike."""
        if not 0 <= self.skip <= _MAX_COUNT:
            raise ValueError(f"skip is a number from 0 to {_MAX_COUNT}")
        if self.times is not None and not 1 <= self.times <= _MAX_COUNT:
            raise ValueError(f"times is a number from 1 to {_MAX_COUNT}, or None for ever")

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
            and any(map(self._matches_part, operation.parts()))
        )

    def _matches_part(self, part: Operation) -> bool:
        return self.key in (None, part.key) and (self.where is None or self.where(part))

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
        self._targets: Targets | None = None

    def __iter__(self) -> Iterator[Fault]:
        return iter(tuple(self._faults))

    def aim_at(self, targets: Targets) -> None:
        """Says what the faults can befall, as the emulator does that they are given to.

        Raises:
            ValueError: A fault in force could never strike.
        """
        for fault in self:
            targets.check(fault)
        self._targets = targets

    def add(self, action: Action, **which: Any) -> Fault:
        """Puts a fault in force; the keywords are those of `Fault`.

        Raises:
            ValueError: It could never strike in the emulator that the faults were given to.
        """
        fault = Fault(action=action, **which)
        if self._targets is not None:
            self._targets.check(fault)
        self._faults.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Lifts one fault."""
        self._faults.remove(fault)

    def clear(self) -> None:
        """Lifts all faults."""
        self._faults.clear()

    def strike(
        self, operation: Operation, may: Callable[[Action], bool] = lambda action: True
    ) -> Action | None:
        """What befalls this operation: the first fault in force that matches it, and may."""
        for fault in self:
            if may(fault.action) and fault._strikes(operation):
                return fault.action
        return None

    def failure_of(self, part: Operation) -> Fail | None:
        """What befalls a part of an operation, which has no answer of its own to be cut or late."""
        for fault in self:
            if isinstance(fault.action, Fail) and fault._strikes(part):
                return fault.action
        return None


def _check_seconds(name: str, seconds: float) -> None:
    if not 0 <= seconds <= _MAX_SECONDS:
        raise ValueError(f"{name} is a number from 0 to {_MAX_SECONDS}")


def _is_condition(code: int | str) -> bool:
    """Whether the code can be sent as a symbol and has a condition's form."""
    if not isinstance(code, str) or len(code) > _MAX_CONDITION:
        return False
    return code.isascii() and code.isprintable() and ":" in code
