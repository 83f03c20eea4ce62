"""Evaluates the part of KQL in which the alerts are written, and refuses the rest.

That part is `where`, `extend`, `project` and `summarize`, whose expressions happen to be
Python's too: they are parsed as such, and only nodes of one meaning in both are evaluated.
Whether a query is KQL at all is not judged here.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Row = dict[str, Any]

OPERATIONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.GtE: operator.ge,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class NotEvaluated(Exception):
    """The query uses what this module knows nothing of."""


def evaluate(query: str, tables: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The rows of a query's result."""
    uncommented = re.sub(r"(?m)^//.*\n", "", query)
    table, *steps = (" ".join(step.split()) for step in re.split(r"(?m)^\|", uncommented))
    rows = list(tables[table])
    for step in steps:
        word, _, rest = step.partition(" ")
        rows = _step(word, rest, rows)
    return rows


def _step(word: str, rest: str, rows: list[Row]) -> list[Row]:
    match word:
        case "where":
            (condition,) = _columns(rest).values()
            return [row for row in rows if _value(condition, row)]
        case "extend":
            return [row | _computed(rest, row) for row in rows]
        case "project":
            return [_computed(rest, row) for row in rows]
        case "summarize":
            aggregates, _, keys = rest.partition(" by ")
            return _summarized(_columns(aggregates), keys, rows)
        case _:
            raise NotEvaluated(word)


def _summarized(aggregates: Mapping[str, ast.expr], keys: str, rows: list[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], tuple[Row, list[Row]]] = {}
    for row in rows:
        key = _computed(keys, row)
        groups.setdefault(tuple(key.values()), (key, []))[1].append(row)
    return [
        key | {name: _aggregate(found, group) for name, found in aggregates.items()}
        for key, group in groups.values()
    ]


def _columns(text: str) -> dict[str, ast.expr]:
    """Expressions by the names that they are given, or are."""
    call = ast.parse(f"_({text})", mode="eval").body
    if not isinstance(call, ast.Call):
        raise NotEvaluated(text)
    plain = {ast.unparse(found): found for found in call.args}
    return plain | {str(found.arg): found.value for found in call.keywords}


def _computed(text: str, row: Row) -> Row:
    return {name: _value(found, row) for name, found in _columns(text).items()}


def _value(node: ast.expr, row: Row) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=column):
            return row[column]
        case ast.Subscript(value=bag, slice=ast.Constant(value=name)):
            return _value(bag, row).get(name)
        case ast.Call(func=ast.Name(id="tostring"), args=[inner]):
            found = _value(inner, row)
            return "" if found is None else str(found)
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return _operation(sign)(_value(left, row), _value(right, row))
        case ast.BinOp(left=left, op=sign, right=right):
            return _operation(sign)(_value(left, row), _value(right, row))
        case _:
            raise NotEvaluated(ast.unparse(node))


def _operation(sign: ast.AST) -> Callable[[Any, Any], Any]:
    if type(sign) not in OPERATIONS:
        raise NotEvaluated(type(sign).__name__)
    return OPERATIONS[type(sign)]


def _aggregate(node: ast.expr, rows: list[Row]) -> Any:
    match node:
        case ast.Call(func=ast.Name(id="sum"), args=[inner]):
            return sum(_value(inner, row) for row in rows)
        case ast.Call(func=ast.Name(id="sumif"), args=[inner, condition]):
            return sum(_value(inner, row) for row in rows if _value(condition, row))
        case _:
            raise NotEvaluated(ast.unparse(node))
