"""Actions: how a rule changes its copy of a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from local_azure.servicebus.broker.fields import Changes, Fields
from local_azure.servicebus.broker.rule_sql.expression import Expression, Reader
from local_azure.servicebus.broker.rule_sql.tokens import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class _Assignment:
    scope: str
    name: str
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """``SET name = value`` and ``REMOVE name``, any number of them.

    Attributes:
        expression: The statements; ``ValueError`` if it is none.
        parameters: Values of the names that begin with ``@`` in it.
    """

    expression: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    _assignments: tuple[_Assignment, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Reads the statements."""
        reader = Reader(self.expression, self.parameters)
        assignments = [_statement(reader)]
        while reader.skip(";") or reader.token.kind is Kind.KEYWORD:
            if reader.token.kind is Kind.KEYWORD:
                assignments.append(_statement(reader))
        reader.end()
        object.__setattr__(self, "_assignments", tuple(assignments))

    def changes(self, fields: Fields) -> Changes:
        """What it changes in a message; each statement sees what the ones before have done.

        Raises:
            EvaluationError: A value cannot be computed.
        """
        system: dict[str, object] = {}
        user: dict[str, object] = {}
        for each in self._assignments:
            seen = Fields(system={**fields.system, **system}, user={**fields.user, **user})
            (system if each.scope == "sys" else user)[each.name] = each.value(seen)
        return Changes(system=system, user=user)


def _statement(reader: Reader) -> _Assignment:
    removes = reader.skip("REMOVE")
    if not removes:
        reader.expect("SET")
    scope, name = reader.property_name()
    if removes:
        return _Assignment(scope, name, lambda _: None)
    reader.expect("=")
    return _Assignment(scope, name, reader.condition())
