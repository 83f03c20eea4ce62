"""Rules of a subscription: which messages of its topic it gets, and how they are changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from local_azure.servicebus.broker.fields import SYSTEM_PROPERTIES
from local_azure.servicebus.broker.rule_sql.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_azure.servicebus.broker.fields import Fields
    from local_azure.servicebus.broker.rule_sql.action import Action

DEFAULT_RULE = "$Default"


class Filter(Protocol):
    """Chooses messages."""

    def matches(self, fields: Fields) -> bool:
        """Whether a message is chosen; raises `EvaluationError` where that cannot be said."""


@dataclass(frozen=True, slots=True)
class TrueFilter:
    """Chooses every message."""

    def matches(self, fields: Fields) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class FalseFilter:
    """Chooses no message."""

    def matches(self, fields: Fields) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationFilter:
    """Chooses messages whose properties have these values, all of them.

    Attributes:
        system: The broker's properties, by the names of `SYSTEM_PROPERTIES`.
        user: The sender's.
    """

    system: Mapping[str, str] = field(default_factory=dict)
    user: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses what can never be compared."""
        unknown = sorted(self.system.keys() - set(SYSTEM_PROPERTIES))
        if unknown:
            raise ValueError(f"a correlation filter knows no {', '.join(unknown)}")
        if not self.system and not self.user:
            raise ValueError("a correlation filter needs at least one property")

    def matches(self, fields: Fields) -> bool:
        return _contains(fields.system, self.system) and _contains(fields.user, self.user)


def _contains(values: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    return all(name in values and values[name] == value for name, value in wanted.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFilter:
    """Chooses messages by a condition in SQL.

    Attributes:
        expression: The condition; ``ValueError`` if it is none.
        parameters: Values of the names that begin with ``@`` in it.
    """

    expression: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    _condition: Condition = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Reads the expression."""
        object.__setattr__(self, "_condition", Condition(self.expression, self.parameters))

    def matches(self, fields: Fields) -> bool:
        return self._condition.holds(fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A filter, and what is done to a copy of the messages that it chooses."""

    filter: Filter = field(default_factory=TrueFilter)
    action: Action | None = None


DEFAULT_RULES: Mapping[str, Rule] = {DEFAULT_RULE: Rule()}
