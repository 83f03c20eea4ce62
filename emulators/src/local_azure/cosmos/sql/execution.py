"""Carrying a query out: documents in, results with their positions out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from local_azure.cosmos.sql.budget import Budget
from local_azure.cosmos.sql.evaluation import Scope, evaluate, made_object
from local_azure.cosmos.sql.semantics import sums_up
from local_azure.cosmos.sql.syntax import leading_name
from local_azure.cosmos.sql.values import UNDEFINED, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from local_azure.cosmos.sql.syntax import Expression, Order, Select, Source
    from local_azure.cosmos.sql.values import SortKey, Value

    _Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a result stands among all of them, so that a later page can go on behind it.

    Attributes:
        keys: What it is ordered by.
        document: The number of the document it comes from.
        row: Its number among the rows of that document.
        count: How many results there are up to it.
    """

    keys: tuple[SortKey, ...] = ()
    document: int = 0
    row: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result and its position."""

    value: Value
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row that fulfils the condition, before it becomes a result."""

    scope: Scope
    position: Position


def execute(
    select: Select,
    documents: Iterable[tuple[int, Value]],
    *,
    now: float,
    after: Position | None = None,
) -> Iterator[Result]:
    """The results in order.

    Args:
        select: The query.
        documents: Numbered documents, by rising number.
        now: Seconds since the epoch.
        after: The position of the last result that the client has. Documents that have
            come or gone since neither hide nor repeat another one, unless results are
            distinct or sums.
    """
    scope = Scope(values={}, now=now, budget=Budget(), patterns={}, subquery=_subquery)
    rows = (
        _document_rows(select, documents, scope) if select.sources else _scope_rows(select, scope)
    )
    given = after.count if after else 0
    if select.distinct or sums_up(select):
        results = _summed_up(select, _ordered(rows, select.order_by), scope)
        return _numbered(results, select.limit, given, skip=select.offset + given)
    ordered = _ordered(rows, select.order_by)
    if after is not None:
        ordered = (row for row in ordered if _is_behind(row.position, after, select.order_by))
    results = _projected(select, ordered)
    return _numbered(results, select.limit, given, skip=0 if after else select.offset)


def meets(select: Select, document: Value, now: float) -> bool:
    """Whether a query finds a document."""
    return next(execute(select, [(0, document)], now=now), None) is not None


def _subquery(select: Select, scope: Scope) -> Sequence[Value]:
    ordered = _ordered(_scope_rows(select, scope), select.order_by)
    every = select.distinct or sums_up(select)
    results = _summed_up(select, ordered, scope) if every else _projected(select, ordered)
    numbered = _numbered(results, select.limit, 0, skip=select.offset)
    return [result.value for result in numbered]


def _document_rows(
    select: Select, documents: Iterable[tuple[int, Value]], scope: Scope
) -> Iterator[_Row]:
    name = leading_name(select.sources[0].collection)
    for number, document in documents:
        scope.budget.grow()
        yield from _scope_rows(select, replace(scope, values={name: document}), number)


def _scope_rows(select: Select, scope: Scope, document: int = 0) -> Iterator[_Row]:
    """The combinations of what the sources give that fulfil the condition."""
    for row, values in enumerate(_joined(select.sources, scope)):
        found = replace(scope, values=values)
        if select.where is None or evaluate(select.where, found) is True:
            yield _Row(scope=found, position=Position(document=document, row=row))


def _joined(sources: Sequence[Source], scope: Scope) -> Iterator[_Values]:
    if not sources:
        yield scope.values
        return
    source, *others = sources
    for value in _taken(source, evaluate(source.collection, scope)):
        scope.budget.spend_on_row()
        yield from _joined(others, replace(scope, values={**scope.values, source.alias: value}))


def _taken(source: Source, collection: Value) -> Sequence[Value]:
    if source.iterates:
        return collection if isinstance(collection, list) else ()
    return () if collection is UNDEFINED else (collection,)


def _ordered(rows: Iterable[_Row], order_by: Sequence[Order]) -> Iterator[_Row]:
    if not order_by:
        return iter(rows)
    keyed = [replace(row, position=_keyed(row, order_by)) for row in rows]
    for index, order in reversed([*enumerate(order_by)]):
        keyed.sort(key=lambda row: row.position.keys[index], reverse=order.descending)
    return iter(keyed)


def _keyed(row: _Row, order_by: Sequence[Order]) -> Position:
    keys = tuple(_key(order.expression, row.scope) for order in order_by)
    return replace(row.position, keys=keys)


def _key(expression: Expression, scope: Scope) -> SortKey:
    """What an expression's values are ordered or told apart by."""
    value = evaluate(expression, scope)
    scope.budget.spend_on(value)
    return sort_key(value)


def _is_behind(position: Position, after: Position, order_by: Sequence[Order]) -> bool:
    for key, other, order in zip(position.keys, after.keys, order_by, strict=True):
        if key != other:
            return (key > other) != order.descending
    return (position.document, position.row) > (after.document, after.row)


def _projected(select: Select, rows: Iterable[_Row]) -> Iterator[Result]:
    for row in rows:
        value = _selected(select, row.scope)
        if value is not UNDEFINED:
            yield Result(value=value, position=row.position)


def _selected(select: Select, scope: Scope) -> Value:
    if select.value is not None:
        return evaluate(select.value, scope)
    return made_object([(column.name, column.expression) for column in select.columns], scope)


def _summed_up(select: Select, rows: Iterable[_Row], scope: Scope) -> Iterator[Result]:
    """One result a group, or a distinct value; its position is its number alone."""
    if sums_up(select):
        rows = [_Row(scope=group, position=Position()) for group in _groups(select, rows, scope)]
    seen = set()
    for result in _projected(select, rows):
        scope.budget.spend_on(result.value)
        key = sort_key(result.value) if select.distinct else None
        if key is None or key not in seen:
            seen.add(key)
            yield Result(value=result.value, position=Position())


def _groups(select: Select, rows: Iterable[_Row], scope: Scope) -> Iterator[Scope]:
    groups: dict[tuple[SortKey, ...], list[_Values]] = {}
    if not select.group_by:
        groups[()] = []
    for row in rows:
        key = tuple(_key(each, row.scope) for each in select.group_by)
        groups.setdefault(key, []).append(row.scope.values)
    for members in groups.values():
        values = members[0] if members else scope.values
        yield replace(scope, values=values, group=members)


def _numbered(
    results: Iterable[Result], limit: int | None, given: int, *, skip: int
) -> Iterator[Result]:
    """Those that are to be given now, each with its number among all."""
    left = None if limit is None else skip + max(limit - given, 0)
    for count, result in enumerate(islice(results, skip, left), given + 1):
        yield replace(result, position=replace(result.position, count=count))
