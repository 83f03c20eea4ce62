"""What a query must keep to beyond its grammar: names that something bears, sums that are sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.cosmos.errors import CosmosError, bad_request, not_emulated
from local_azure.cosmos.sql.budget import Budget
from local_azure.cosmos.sql.functions import AGGREGATES
from local_azure.cosmos.sql.syntax import Call, Name, Subquery, leading_name, nodes, parts
from local_azure.cosmos.sql.tokens import query_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_azure.cosmos.sql.syntax import Expression, Select, Source


def checked(select: Select) -> Select:
    """The query itself, if it means something; raises a `CosmosError` 400 otherwise."""
    _check(select, None)
    return select


def sums_up(select: Select) -> bool:
    """Whether results are made of many rows."""
    return bool(select.group_by) or any(map(_holds_aggregate, select.selected))


def _check(select: Select, outer: frozenset[str] | None) -> None:
    """Checks a query; `outer` are the names around it, ``None`` around a whole query."""
    own = _aliases(select.sources, outer)
    conditions = () if select.where is None else (select.where,)
    order = tuple(each.expression for each in select.order_by)
    unsummed = (*conditions, *select.group_by, *order)
    for expression in (*select.selected, *unsummed):
        _check_names(expression, own | (outer or frozenset()))
    if any(map(_holds_aggregate, unsummed)):
        raise bad_request("An aggregate function stands outside of the select list.")
    if select.group_by and order:
        raise bad_request("ORDER BY is not supported together with GROUP BY.")
    if sums_up(select):
        budget = Budget()
        for expression in select.selected:
            _check_sum(expression, select.group_by, own, budget)


def _aliases(sources: Sequence[Source], outer: frozenset[str] | None) -> frozenset[str]:
    """What a query calls its sources; each may take from those before it."""
    own: frozenset[str] = frozenset()
    for source in sources:
        if own or outer is not None:
            _check_names(source.collection, own | (outer or frozenset()))
        elif not leading_name(source.collection):
            raise not_emulated("a FROM that does not begin with the container")
        if source.alias in own:
            raise bad_request(
                f"The input alias '{source.alias}' is specified more than once in the FROM clause."
            )
        own |= {source.alias}
    return own


def _check_names(expression: Expression, visible: frozenset[str]) -> None:
    for node in nodes(expression):
        match node:
            case Name() if node.name not in visible:
                message = f"Identifier '{node.name}' could not be resolved."
                raise query_error("SC2001", message, node.start, node.end)
            case Subquery():
                _check(node.select, visible)
            case _:
                pass


def _check_sum(
    expression: Expression, group_by: Sequence[Expression], own: frozenset[str], budget: Budget
) -> None:
    """Refuses what differs between the rows that are summed up."""
    budget.spend(len(group_by))
    if expression in group_by:
        return
    match expression:
        case Call(name, arguments) if name in AGGREGATES:
            if len(arguments) != 1 or any(map(_holds_aggregate, arguments)):
                raise bad_request(f"The aggregate function {name} takes one value a row.")
        case Subquery():
            raise _not_a_sum()
        case Name(name) if name in own:
            raise _not_a_sum()
        case _:
            for part in parts(expression):
                _check_sum(part, group_by, own, budget)


def _holds_aggregate(expression: Expression) -> bool:
    return any(isinstance(node, Call) and node.name in AGGREGATES for node in nodes(expression))


def _not_a_sum() -> CosmosError:
    return bad_request(
        "The select list holds what is neither in an aggregate function nor in the GROUP BY clause."
    )
