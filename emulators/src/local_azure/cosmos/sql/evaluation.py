"""What an expression is worth for one row of a query."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from local_azure.cosmos.errors import not_emulated
from local_azure.cosmos.sql import syntax
from local_azure.cosmos.sql.functions import AGGREGATES, call, finite
from local_azure.cosmos.sql.times import TIMES
from local_azure.cosmos.sql.values import UNDEFINED, Kind, compare, equals, kind_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local_azure.cosmos.sql.budget import Budget
    from local_azure.cosmos.sql.syntax import Arithmetic, Comparison, Expression
    from local_azure.cosmos.sql.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What an expression may speak of.

    Attributes:
        values: The values of one row, by the aliases of their sources.
        now: Seconds since the epoch.
        budget: What the whole query may still use up.
        patterns: Those of ``LIKE`` that have been compiled, with their escape characters.
        subquery: Finds the results of a query within the query.
        group: All rows of the group that is summed up, if one is.
    """

    values: Mapping[str, Value]
    now: float
    budget: Budget
    patterns: dict[tuple[str, str | None], re.Pattern[str]]
    subquery: Callable[[syntax.Select, Scope], Sequence[Value]]
    group: Sequence[Mapping[str, Value]] | None = None


_COMPARISONS_A_STEP: Final = 256
_STEPS_TO_COMPILE_A_CHARACTER: Final = 10

_ORDERS: Final[Mapping[Comparison, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALCULATIONS: Final[Mapping[Arithmetic, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}


def evaluate(expression: Expression, scope: Scope) -> Value:  # noqa: C901, PLR0912  (a case a kind)
    """The expression's value; whatever cannot be worked out is undefined."""
    scope.budget.spend()
    match expression:
        case syntax.Property():
            return _member(evaluate(expression.of, scope), expression.key)
        case syntax.Name():
            return scope.values.get(expression.name, UNDEFINED)
        case syntax.Constant():
            return expression.value
        case syntax.Compare():
            return _compared(expression, scope)
        case syntax.In():
            return _is_in(expression, scope)
        case syntax.And():
            return _combined(expression.operands, scope, decides=False)
        case syntax.Or():
            return _combined(expression.operands, scope, decides=True)
        case syntax.Not():
            value = evaluate(expression.operand, scope)
            return not value if isinstance(value, bool) else UNDEFINED
        case syntax.Call():
            return _called(expression, scope)
        case syntax.Calculate():
            return _calculated(expression, scope)
        case syntax.Conditional():
            met = evaluate(expression.test, scope) is True
            return evaluate(expression.then if met else expression.otherwise, scope)
        case syntax.Coalesce():
            left = evaluate(expression.left, scope)
            return evaluate(expression.right, scope) if left is UNDEFINED else left
        case syntax.Like():
            return _is_like(expression, scope)
        case syntax.MakeArray():
            items = (evaluate(item, scope) for item in expression.items)
            return scope.budget.admit([item for item in items if item is not UNDEFINED])
        case syntax.MakeObject():
            return made_object(expression.members, scope)
        case syntax.Subquery():
            return _found(expression, scope)
        case _:
            assert_never(expression)


def made_object(members: Sequence[tuple[str, Expression]], scope: Scope) -> Value:
    """An object of the members whose values are defined."""
    values = ((name, evaluate(expression, scope)) for name, expression in members)
    return scope.budget.admit({name: value for name, value in values if value is not UNDEFINED})


def _member(of: Value, key: str | int) -> Value:
    match of, key:
        case dict(), str():
            return of.get(key, UNDEFINED)
        case list(), int() if 0 <= key < len(of):
            return of[key]
        case _:
            return UNDEFINED


def _examined(expression: Expression, scope: Scope) -> Value:
    """The expression's value, to be gone through."""
    value = evaluate(expression, scope)
    scope.budget.spend_on(value)
    return value


def _compared(expression: syntax.Compare, scope: Scope) -> Value:
    left, right = _examined(expression.left, scope), _examined(expression.right, scope)
    match expression.operator:
        case "=":
            return equals(left, right)
        case "!=":
            same = equals(left, right)
            return UNDEFINED if same is UNDEFINED else not same
        case ordering:
            difference = compare(left, right)
            return UNDEFINED if difference is UNDEFINED else _ORDERS[ordering](difference, 0)


def _is_in(expression: syntax.In, scope: Scope) -> Value:
    value = _examined(expression.of, scope)
    if value is UNDEFINED or sort_key(value) in expression.constants:
        return UNDEFINED if value is UNDEFINED else True
    others = (_examined(other, scope) for other in expression.others)
    return any(equals(value, other) is True for other in others)


def _combined(operands: Sequence[Expression], scope: Scope, *, decides: bool) -> Value:
    """``AND`` is decided by one false operand, ``OR`` by one true, whatever the others are."""
    unknown = False
    for operand in operands:
        value = evaluate(operand, scope)
        if value is decides:
            return decides
        unknown = unknown or not isinstance(value, bool)
    return UNDEFINED if unknown else not decides


def _calculated(expression: syntax.Calculate, scope: Scope) -> Value:
    left, right = evaluate(expression.left, scope), evaluate(expression.right, scope)
    if kind_of(left) is not Kind.NUMBER or kind_of(right) is not Kind.NUMBER:
        return UNDEFINED
    try:
        return finite(_CALCULATIONS[expression.operator](float(left), float(right)))
    except ArithmeticError:
        return UNDEFINED


def _called(expression: syntax.Call, scope: Scope) -> Value:
    name, arguments = expression.name, expression.arguments
    if name in TIMES and not arguments:
        return TIMES[name](scope.now)
    if name in AGGREGATES and scope.group is not None:
        rows = (replace(scope, values=row, group=None) for row in scope.group)
        values = [_examined(argument, row) for row in rows for argument in arguments]
        return AGGREGATES[name]([value for value in values if value is not UNDEFINED])
    return scope.budget.admit(call(name, [_examined(argument, scope) for argument in arguments]))


def _is_like(expression: syntax.Like, scope: Scope) -> Value:
    text, pattern = evaluate(expression.text, scope), evaluate(expression.pattern, scope)
    if not isinstance(text, str) or not isinstance(pattern, str):
        return UNDEFINED
    scope.budget.spend(len(text) * len(pattern) // _COMPARISONS_A_STEP)
    compiled = scope.patterns.get((pattern, expression.escape))
    if compiled is None:
        scope.budget.spend(len(pattern) * _STEPS_TO_COMPILE_A_CHARACTER)
        compiled = _wildcards(pattern, expression.escape)
        scope.patterns[pattern, expression.escape] = compiled
    return compiled.fullmatch(text) is not None


def _wildcards(pattern: str, escape: str | None) -> re.Pattern[str]:
    """``%`` is any text, ``_`` any character; atomic groups keep the search from exploding."""
    first, *rest = _segments(pattern, escape)
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    found = "".join(f"(?>.*?{segment})" for segment in middle)
    return re.compile(f"{first}{found}.*{last}", re.DOTALL)


def _segments(pattern: str, escape: str | None) -> list[str]:
    """Regular expressions of what stands between the ``%``."""
    segments, characters = [""], iter(pattern)
    for character in characters:
        if character == escape:
            segments[-1] += re.escape(next(characters, character))
        elif character == "%":
            segments.append("")
        elif character == "[":
            raise not_emulated("a set of characters in LIKE")
        else:
            segments[-1] += "." if character == "_" else re.escape(character)
    return segments


def _found(expression: syntax.Subquery, scope: Scope) -> Value:
    results = scope.subquery(expression.select, scope)
    match expression.wanted:
        case "EXISTS":
            return bool(results)
        case "ARRAY":
            return scope.budget.admit(list(results))
        case "FIRST":
            return results[0] if results else UNDEFINED
