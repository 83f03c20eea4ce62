"""What a condition says about a path beforehand, as an index would tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.cosmos.sql.syntax import And, Compare, In, Name, Or, Property, is_scalar
from local_azure.cosmos.sql.values import sort_key

if TYPE_CHECKING:
    from local_azure.cosmos.sql.syntax import Expression, Select
    from local_azure.cosmos.sql.values import SortKey

Path = tuple[str, ...]


def path_of(expression: Expression, select: Select) -> Path | None:
    """The properties of a document that a path such as ``c.customer.id`` names, if it is one."""
    steps: Path = ()
    while isinstance(expression, Property) and isinstance(expression.key, str):
        steps = (expression.key, *steps)
        expression = expression.of
    source = select.sources[0] if select.sources else None
    if source is None or source.iterates or not isinstance(source.collection, Name):
        return None
    return steps if expression == Name(source.alias) else None


def possible_values(path: Path, select: Select) -> frozenset[SortKey] | None:
    """The only values that a document may have at a path; ``None`` if it may have any."""
    return None if select.where is None else _possible(select.where, path, select)


def _possible(condition: Expression, path: Path, select: Select) -> frozenset[SortKey] | None:
    match condition:
        case Compare("=", left, right) if is_scalar(right) and path_of(left, select) == path:
            return frozenset([sort_key(right.value)])
        case Compare("=", left, right) if is_scalar(left) and path_of(right, select) == path:
            return frozenset([sort_key(left.value)])
        case In(of, values, ()) if path_of(of, select) == path:
            return values
        case And(operands):
            found = [_possible(operand, path, select) for operand in operands]
            known = [values for values in found if values is not None]
            return frozenset.intersection(*known) if known else None
        case Or(operands):
            found = [_possible(operand, path, select) for operand in operands]
            known = [values for values in found if values is not None]
            return frozenset().union(*known) if len(known) == len(found) else None
        case _:
            return None
