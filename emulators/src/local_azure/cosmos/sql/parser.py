"""From a query's text to its syntax tree."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from local_azure.cosmos.errors import bad_request
from local_azure.cosmos.sql import syntax
from local_azure.cosmos.sql.cursor import Cursor, unexpected
from local_azure.cosmos.sql.semantics import checked
from local_azure.cosmos.sql.tokens import Token, TokenKind
from local_azure.cosmos.sql.values import UNDEFINED, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local_azure.cosmos.sql.syntax import Arithmetic, Comparison, Expression, Select, Source
    from local_azure.cosmos.sql.values import Value

MAX_JOINS: Final = 5
"""How many a query has at most, those of the queries within it among them."""
_MAX_RESULTS: Final = 2**31 - 1

_COMPARISONS: Final[Mapping[str, Comparison]] = {
    "=": "=",
    "!=": "!=",
    "<>": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
_SUMS: Final[Mapping[str, Arithmetic]] = {"+": "+", "-": "-"}
_PRODUCTS: Final[Mapping[str, Arithmetic]] = {"*": "*", "/": "/", "%": "%"}
_CONSTANTS: Final[Mapping[str, Value]] = {
    "TRUE": True,
    "FALSE": False,
    "NULL": None,
    "UNDEFINED": UNDEFINED,
}


def parse_query(text: str, parameters: Mapping[str, Value]) -> Select:
    """Reads ``SELECT ...``; raises a `CosmosError` 400 if it is none."""
    return checked(_Parser(text, parameters).query())


def parse_condition(text: str) -> Select:
    """Reads the condition of a patch: ``FROM c WHERE ...``."""
    return checked(_Parser(text, {}).condition())


class _Parser(Cursor):
    """Reads a query from left to right, one method a rule of its grammar."""

    def __init__(self, text: str, parameters: Mapping[str, Value]) -> None:
        super().__init__(text)
        self._parameters = parameters
        self._unnamed = count(1)
        self._joins = 0

    def query(self) -> Select:
        select = self._select()
        self._end()
        return select

    def condition(self) -> Select:
        sources = self._sources()
        value = self._everything(sources)
        where = self._where()
        self._end()
        return syntax.Select(
            value=value,
            columns=(),
            distinct=False,
            sources=sources,
            where=where,
            group_by=(),
            order_by=(),
            offset=0,
            limit=None,
        )

    def _select(self) -> Select:
        self._expect("SELECT")
        distinct = self._accepts("DISTINCT")
        top = self._whole_number() if self._accepts("TOP") else None
        value, columns = self._selected()
        sources = self._sources()
        if value is None and not columns:
            value = self._everything(sources)
        where = self._where()
        group_by = tuple(self._list(self._expression)) if self._accepts("GROUP", "BY") else ()
        order_by = tuple(self._list(self._order)) if self._accepts("ORDER", "BY") else ()
        offset, limit = self._offset_and_limit()
        return syntax.Select(
            value=value,
            columns=columns,
            distinct=distinct,
            sources=sources,
            where=where,
            group_by=group_by,
            order_by=order_by,
            offset=offset,
            limit=limit if top is None else top,
        )

    def _selected(self) -> tuple[Expression | None, tuple[syntax.Column, ...]]:
        if self._accepts("*"):
            return None, ()
        if self._accepts("VALUE"):
            return self._expression(), ()
        return None, tuple(self._list(self._column))

    def _everything(self, sources: tuple[Source, ...]) -> Expression:
        if not sources:
            raise unexpected(self._next)
        if len(sources) != 1:
            raise bad_request("'SELECT *' is only valid with a single input set.")
        return syntax.Name(sources[0].alias)

    def _column(self) -> syntax.Column:
        expression = self._expression()
        if self._accepts("AS"):
            return syntax.Column(name=self._take(TokenKind.IDENTIFIER).text, expression=expression)
        if self._next.kind is TokenKind.IDENTIFIER:
            return syntax.Column(name=self._advance().text, expression=expression)
        return syntax.Column(name=self._implied_name(expression), expression=expression)

    def _implied_name(self, expression: Expression) -> str:
        match expression:
            case syntax.Property(key=str(name)) | syntax.Name(name):
                return name
            case _:
                return f"${next(self._unnamed)}"

    def _sources(self) -> tuple[Source, ...]:
        if not self._accepts("FROM"):
            return ()
        sources = [self._source()]
        while self._accepts("JOIN"):
            self._joins += 1
            if self._joins > MAX_JOINS:
                raise bad_request(f"The query has more than {MAX_JOINS} joins.")
            sources.append(self._source())
        return tuple(sources)

    def _source(self) -> Source:
        if self._is_sign("("):
            collection = self._collection()
            self._accepts("AS")
            alias = self._take(TokenKind.IDENTIFIER).text
            return syntax.Source(alias=alias, collection=collection, iterates=True)
        name = self._take(TokenKind.IDENTIFIER)
        if self._accepts("IN"):
            return syntax.Source(alias=name.text, collection=self._collection(), iterates=True)
        path = self._suffixed(_name(name))
        if self._accepts("AS") or self._next.kind is TokenKind.IDENTIFIER:
            alias = self._take(TokenKind.IDENTIFIER).text
            return syntax.Source(alias=alias, collection=path)
        return syntax.Source(alias=self._implied_name(path), collection=path)

    def _collection(self) -> Expression:
        """What a source takes elements of: an array, or all that a query within finds."""
        found = self._postfix()
        return replace(found, wanted="ARRAY") if isinstance(found, syntax.Subquery) else found

    def _where(self) -> Expression | None:
        return self._expression() if self._accepts("WHERE") else None

    def _order(self) -> syntax.Order:
        expression = self._expression()
        descending = self._accepts("DESC")
        if not descending:
            self._accepts("ASC")
        return syntax.Order(expression=expression, descending=descending)

    def _offset_and_limit(self) -> tuple[int, int | None]:
        if not self._accepts("OFFSET"):
            return 0, None
        offset = self._whole_number()
        self._expect("LIMIT")
        return offset, self._whole_number()

    def _whole_number(self) -> int:
        token = self._next
        match self._primary():
            case syntax.Constant(int(number)) if not isinstance(number, bool):
                if 0 <= number <= _MAX_RESULTS:
                    return number
        raise unexpected(token)

    def _expression(self) -> Expression:
        test = self._coalesced()
        if not self._accepts("?"):
            return test
        then = self._expression()
        self._expect(":")
        return syntax.Conditional(test, then, self._expression())

    def _coalesced(self) -> Expression:
        left = self._disjunction()
        return syntax.Coalesce(left, self._coalesced()) if self._accepts("??") else left

    def _disjunction(self) -> Expression:
        operands = self._list(self._conjunction, separator="OR")
        return operands[0] if len(operands) == 1 else syntax.Or(tuple(operands))

    def _conjunction(self) -> Expression:
        operands = self._list(self._negation, separator="AND")
        return operands[0] if len(operands) == 1 else syntax.And(tuple(operands))

    def _negation(self) -> Expression:
        return syntax.Not(self._negation()) if self._accepts("NOT") else self._comparison()

    def _comparison(self) -> Expression:
        left = self._joined()
        operator = _COMPARISONS.get(self._next.text) if self._is_sign() else None
        if operator is not None:
            self._advance()
            return syntax.Compare(operator, left, self._joined())
        negated = self._accepts("NOT")
        ranged = self._range(left)
        if ranged is not None:
            return syntax.Not(ranged) if negated else ranged
        if negated:
            raise unexpected(self._next)
        return left

    def _range(self, left: Expression) -> Expression | None:
        """What follows a value in ``IN (...)``, ``BETWEEN ... AND ...`` and ``LIKE ...``."""
        if self._accepts("IN"):
            self._expect("(")
            options = self._list(self._expression)
            self._expect(")")
            return _in(left, options)
        if self._accepts("BETWEEN"):
            low = self._joined()
            self._expect("AND")
            high = self._joined()
            return syntax.And((syntax.Compare(">=", left, low), syntax.Compare("<=", left, high)))
        if self._accepts("LIKE"):
            pattern = self._joined()
            escape = self._take(TokenKind.STRING).text if self._accepts("ESCAPE") else None
            return syntax.Like(left, pattern, escape)
        return None

    def _joined(self) -> Expression:
        left = self._sum()
        while self._accepts("||"):
            left = syntax.Call("CONCAT", (left, self._sum()))
        return left

    def _sum(self) -> Expression:
        return self._calculation(self._product, _SUMS)

    def _product(self) -> Expression:
        return self._calculation(self._signed, _PRODUCTS)

    def _calculation(
        self, operand: Callable[[], Expression], operators: Mapping[str, Arithmetic]
    ) -> Expression:
        left = operand()
        while self._is_sign() and (operator := operators.get(self._next.text)):
            self._advance()
            left = syntax.Calculate(operator, left, operand())
        return left

    def _signed(self) -> Expression:
        if self._accepts("-"):
            match self._signed():
                case syntax.Constant(int() | float() as number) if not isinstance(number, bool):
                    return syntax.Constant(-number)
                case operand:
                    return syntax.Calculate("-", syntax.Constant(0), operand)
        return self._signed() if self._accepts("+") else self._postfix()

    def _postfix(self) -> Expression:
        return self._suffixed(self._primary())

    def _suffixed(self, expression: Expression) -> Expression:
        while True:
            if self._accepts("."):
                expression = syntax.Property(expression, self._take(TokenKind.IDENTIFIER).text)
            elif self._accepts("["):
                expression = syntax.Property(expression, self._key())
                self._expect("]")
            else:
                return expression

    def _key(self) -> str | int:
        token = self._next
        match self._primary():
            case syntax.Constant(str() | int() as key) if not isinstance(key, bool):
                return key
            case _:
                raise unexpected(token)

    def _primary(self) -> Expression:
        token = self._advance()
        match token.kind:
            case TokenKind.NUMBER:
                return syntax.Constant(self._number(token))
            case TokenKind.STRING:
                return syntax.Constant(token.text)
            case TokenKind.PARAMETER:
                return syntax.Constant(self._parameter(token))
            case TokenKind.IDENTIFIER if self._accepts("("):
                return syntax.Call(token.text.upper(), tuple(self._until(")", self._expression)))
            case TokenKind.IDENTIFIER:
                return _name(token)
            case TokenKind.KEYWORD if token.text in _CONSTANTS:
                return syntax.Constant(_CONSTANTS[token.text])
            case _:
                return self._enclosed(token)

    def _enclosed(self, token: Token) -> Expression:
        match token.text:
            case "EXISTS" | "ARRAY" as wanted if token.kind is TokenKind.KEYWORD:
                self._expect("(")
                return self._closed(syntax.Subquery(wanted, self._select()), ")")
            case "(" if self._is_keyword("SELECT"):
                return self._closed(syntax.Subquery("FIRST", self._select()), ")")
            case "(":
                return self._closed(self._expression(), ")")
            case "[":
                return syntax.MakeArray(tuple(self._until("]", self._expression)))
            case "{":
                return syntax.MakeObject(tuple(self._until("}", self._member)))
            case _:
                raise unexpected(token)

    def _closed(self, expression: Expression, end: str) -> Expression:
        self._expect(end)
        return expression

    def _member(self) -> tuple[str, Expression]:
        token = self._advance()
        if token.kind not in (TokenKind.STRING, TokenKind.IDENTIFIER):
            raise unexpected(token)
        self._expect(":")
        return token.text, self._expression()

    def _number(self, token: Token) -> int | float:
        number = float(token.text)
        if math.isinf(number):
            raise unexpected(token)
        return int(number) if number.is_integer() else number

    def _parameter(self, token: Token) -> Value:
        if token.text not in self._parameters:
            raise bad_request(f"The query's parameter '{token.text}' is not given.")
        return self._parameters[token.text]


def _name(token: Token) -> syntax.Name:
    return syntax.Name(token.text, token.start, token.end)


def _in(of: Expression, options: Sequence[Expression]) -> syntax.In:
    constants = [option.value for option in options if syntax.is_scalar(option)]
    others = [option for option in options if not syntax.is_scalar(option)]
    return syntax.In(of, frozenset(map(sort_key, constants)), tuple(others))
