"""Reads the expressions of rules: each becomes a function of a message's properties."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from local_azure.servicebus.broker.fields import SYSTEM_PROPERTIES, Fields
from local_azure.servicebus.broker.rule_sql import values
from local_azure.servicebus.broker.rule_sql.tokens import Kind, Token, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

Expression: TypeAlias = Callable[[Fields], object]

MAX_LENGTH = 1024
_MAX_DEPTH = 32
_SYSTEM = {name.lower(): name for name in SYSTEM_PROPERTIES}


class Reader:
    """Reads a text from left to right; every method raises ``ValueError`` where it is wrong."""

    def __init__(self, text: str, parameters: Mapping[str, object]) -> None:
        if len(text) > MAX_LENGTH:
            raise ValueError(f"an expression has at most {MAX_LENGTH} characters")
        self._tokens = list(tokens(text))
        self._at = 0
        self._depth = 0
        self._parameters = parameters

    # ------------------------------------------------------------ tokens

    @property
    def token(self) -> Token:
        """What comes next."""
        return self._tokens[self._at]

    def next(self) -> Token:
        """Takes what comes next."""
        token = self.token
        self._at += token.kind is not Kind.END
        return token

    def skip(self, *texts: str) -> str | None:
        """Takes a keyword or sign if it comes next."""
        fits = self.token.kind in (Kind.KEYWORD, Kind.SIGN) and self.token.text in texts
        return self.next().text if fits else None

    def expect(self, text: str) -> None:
        """Takes a keyword or sign that must come next."""
        if self.skip(text) is None:
            raise self.error()

    def end(self) -> None:
        """Nothing may come any more."""
        if self.token.kind is not Kind.END:
            raise self.error()

    def error(self) -> ValueError:
        """What came is not what may come."""
        return ValueError(f"syntax error near {self.token.text!r}")

    # ------------------------------------------------------------ conditions

    def condition(self) -> Expression:
        """Conditions joined by OR."""
        return self._joined("OR", self._conjunction, values.any_of)

    def _conjunction(self) -> Expression:
        return self._joined("AND", self._negation, values.all_of)

    def _joined(
        self,
        keyword: str,
        read: Callable[[], Expression],
        join: Callable[[list[object]], bool | None],
    ) -> Expression:
        parts = [read()]
        while self.skip(keyword):
            parts.append(read())
        if len(parts) == 1:
            return parts[0]
        return lambda fields: join([part(fields) for part in parts])

    def _negation(self) -> Expression:
        if self.skip("NOT"):
            inner = self._nested(self._negation)
            return lambda fields: values.negated(inner(fields))
        return self._predicate()

    def _predicate(self) -> Expression:
        if self.skip("EXISTS"):
            self.expect("(")
            value = self.property()
            self.expect(")")
            return lambda fields: value(fields) is not None
        return self._compared(self._sum())

    def _compared(self, left: Expression) -> Expression:
        if sign := self.skip(*values.COMPARISONS):
            right = self._sum()
            return lambda fields: values.compare(sign, left(fields), right(fields))
        if self.skip("IS"):
            return self._is_null(left)
        if self.skip("NOT"):
            inner = self._in_or_like(left)
            return lambda fields: values.negated(inner(fields))
        if self.token.text in ("IN", "LIKE") and self.token.kind is Kind.KEYWORD:
            return self._in_or_like(left)
        return left

    def _is_null(self, left: Expression) -> Expression:
        wanted = self.skip("NOT") is None
        self.expect("NULL")
        return lambda fields: (left(fields) is None) is wanted

    def _in_or_like(self, left: Expression) -> Expression:
        if self.skip("IN"):
            options = self._list()
            return lambda fields: values.among(left(fields), [o(fields) for o in options])
        self.expect("LIKE")
        pattern = self._sum()
        escape = self._sum() if self.skip("ESCAPE") else _constant(None)
        return lambda fields: values.like(left(fields), pattern(fields), escape(fields))

    def _list(self) -> list[Expression]:
        self.expect("(")
        items = [self._sum()]
        while self.skip(","):
            items.append(self._sum())
        self.expect(")")
        return items

    # ------------------------------------------------------------ values

    def _sum(self) -> Expression:
        return self._computed(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._computed(("*", "/", "%"), self._signed)

    def _computed(self, signs: tuple[str, ...], read: Callable[[], Expression]) -> Expression:
        left = read()
        while sign := self.skip(*signs):
            left = _binary(sign, left, read())
        return left

    def _signed(self) -> Expression:
        if sign := self.skip("+", "-"):
            return _binary(sign, _constant(0), self._nested(self._signed))
        return self._value()

    def _value(self) -> Expression:
        token = self.token
        match token.kind:
            case Kind.NUMBER | Kind.STRING | Kind.PARAMETER:
                return _constant(self._literal(self.next()))
            case Kind.KEYWORD if token.text in _WORDS:
                return _constant(_WORDS[self.next().text])
            case Kind.NAME:
                return self._name()
            case _:
                self.expect("(")
                inner = self._nested(self.condition)
                self.expect(")")
                return inner

    def _literal(self, token: Token) -> object:
        match token.kind:
            case Kind.NUMBER:
                return int(token.text) if token.text.isdecimal() else float(token.text)
            case Kind.PARAMETER if token.text not in self._parameters:
                raise ValueError(f"{token.text} has no value")
            case Kind.PARAMETER:
                return self._parameters[token.text]
            case _:
                return token.text

    def _name(self) -> Expression:
        following = self._tokens[self._at + 1]
        if following != Token(Kind.SIGN, "("):
            return self.property()
        function = self.next().text.lower()
        self.expect("(")
        value = self._call(function)
        self.expect(")")
        return value

    def _call(self, function: str) -> Expression:
        match function:
            case "newid":
                return lambda _: uuid4()
            case "p" | "property" if self.token.kind in (Kind.NAME, Kind.STRING):
                return partial(_user_property, self.next().text)
            case _:
                raise ValueError(f"there is no function {function}")

    def property(self) -> Expression:
        """A property's value."""
        scope, name = self.property_name()
        return partial(_system_property if scope == "sys" else _user_property, name)

    def property_name(self) -> tuple[str, str]:
        """The scope and name of a property; without a scope it is the sender's."""
        first = self._plain_name()
        if self.skip(".") is None:
            return "user", first
        scope, name = first.lower(), self._plain_name()
        if scope == "sys" and name.lower() in _SYSTEM:
            return scope, _SYSTEM[name.lower()]
        if scope != "user":
            raise ValueError(f"there is no property {scope}.{name}")
        return scope, name

    def _plain_name(self) -> str:
        if self.token.kind is not Kind.NAME:
            raise self.error()
        return self.next().text

    def _nested(self, read: Callable[[], Expression]) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"an expression nests at most {_MAX_DEPTH} levels")
        inner = read()
        self._depth -= 1
        return inner


_WORDS = {"TRUE": True, "FALSE": False, "NULL": None}


def _constant(value: object) -> Expression:
    return lambda _: value


def _binary(sign: str, left: Expression, right: Expression) -> Expression:
    return lambda fields: values.compute(sign, left(fields), right(fields))


def _system_property(name: str, fields: Fields) -> object:
    return fields.system.get(name)


def _user_property(name: str, fields: Fields) -> object:
    """The sender's property; case does not matter in its name."""
    wanted = name.lower()
    found = (value for key, value in fields.user.items() if key.lower() == wanted)
    return next(found, None)
