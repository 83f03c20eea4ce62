"""The syntax tree of a query."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local_azure.cosmos.sql.values import SortKey, Value


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that stands in the query or came as a parameter."""

    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    """What a source is called, such as ``c``, and where in the query's text that stands."""

    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Property:
    """A property or an element: ``of.key`` or ``of[key]``."""

    of: Expression
    key: str | int


@dataclass(frozen=True, slots=True)
class And:
    """``AND`` of two or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """``OR`` of two or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """``NOT``."""

    operand: Expression


Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
Arithmetic = Literal["+", "-", "*", "/", "%"]


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison."""

    operator: Comparison
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Calculate:
    """An arithmetic operation on numbers."""

    operator: Arithmetic
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In:
    """``of IN (...)``: the scalars, by what stands for them in comparisons, and the rest."""

    of: Expression
    constants: frozenset[SortKey]
    others: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """``test ? then : otherwise``."""

    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Coalesce:
    """``left ?? right``: the right one where the left one is undefined."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Like:
    """``text LIKE pattern``."""

    text: Expression
    pattern: Expression
    escape: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function or an aggregate; the name is in capitals."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MakeArray:
    """``[item, ...]``."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MakeObject:
    """``{name: value, ...}``."""

    members: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query within the query: whether it finds something, all it finds, or the first."""

    wanted: Literal["EXISTS", "ARRAY", "FIRST"]
    select: Select


Expression = (
    Constant
    | Name
    | Property
    | And
    | Or
    | Not
    | Compare
    | In
    | Calculate
    | Conditional
    | Coalesce
    | Like
    | Call
    | MakeArray
    | MakeObject
    | Subquery
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An entry of ``FROM``.

    Attributes:
        alias: What its values are called.
        collection: What it takes them from.
        iterates: Whether it takes the elements of an array, or the one value itself.
    """

    alias: str
    collection: Expression
    iterates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """An entry of ``SELECT``, and what it is called in the result."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An entry of ``ORDER BY``."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A whole query.

    Attributes:
        value: The expression of ``SELECT VALUE``, or of ``SELECT *``.
        columns: Those of ``SELECT`` otherwise.
        distinct: Equal results are given once.
        sources: ``FROM`` and its ``JOIN``; the first one takes the documents.
        where: What a row must fulfil.
        group_by: What makes rows one group.
        order_by: How results are sorted.
        offset: So many results are left out first.
        limit: So many are then given at most.
    """

    value: Expression | None
    columns: tuple[Column, ...]
    distinct: bool
    sources: tuple[Source, ...]
    where: Expression | None
    group_by: tuple[Expression, ...]
    order_by: tuple[Order, ...]
    offset: int
    limit: int | None

    @property
    def selected(self) -> tuple[Expression, ...]:
        """What results are made of."""
        columns = tuple(column.expression for column in self.columns)
        return columns if self.value is None else (self.value,)


def nodes(expression: Expression) -> Iterator[Expression]:
    """The expression and those within it, but not those of queries within the query."""
    yield expression
    if isinstance(expression, Subquery):
        return
    for part in parts(expression):
        yield from nodes(part)


def parts(expression: Expression) -> Iterator[Expression]:
    """The expressions that an expression is directly made of."""
    for part in fields(expression):
        yield from _expressions(getattr(expression, part.name))


def is_scalar(expression: Expression) -> TypeGuard[Constant]:
    """Whether an expression is a constant that is neither array nor object."""
    return isinstance(expression, Constant) and not isinstance(expression.value, list | dict)


def leading_name(expression: Expression) -> str:
    """The name that a path begins with."""
    while isinstance(expression, Property):
        expression = expression.of
    return expression.name if isinstance(expression, Name) else ""


def _expressions(value: object) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)
