"""The words and signs that a query's text is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import CosmosError, bad_request

if TYPE_CHECKING:
    from collections.abc import Iterator

RESERVED: Final = frozenset(
    {"AND", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "DESC", "DISTINCT", "ESCAPE", "EXISTS"}
    | {"FALSE", "FROM", "GROUP", "IN", "JOIN", "LIKE", "LIMIT", "NOT", "NULL", "OFFSET", "OR"}
    | {"ORDER", "SELECT", "TOP", "TRUE", "UDF", "UNDEFINED", "VALUE", "WHERE"}
)
"""Words that name no property after a dot; ``c["value"]`` is the way round."""

_TOKEN: Final = re.compile(
    r"""
    (?P<SPACE>   \s+ | --[^\n]* | /\*.*?\*/ )
  | (?P<NUMBER>  (?: \d+ (?:\.\d*)? | \.\d+ ) (?: [eE][+-]?\d+ )? )
  | (?P<STRING>  "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
  | (?P<PARAMETER> @\w+ )
  | (?P<IDENTIFIER> [^\W\d]\w* )
  | (?P<SIGN>    <= | >= | != | <> | \|\| | \?\? | [-+*/%=<>(){}\[\].,:?] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class TokenKind(Enum):
    """What a token is; a keyword is a reserved word, an identifier another one."""

    NUMBER = auto()
    STRING = auto()
    PARAMETER = auto()
    KEYWORD = auto()
    IDENTIFIER = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word or sign: a string without its quotes, a keyword in capitals."""

    kind: TokenKind
    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """Takes a query's text apart; raises a `CosmosError` 400 where nothing fits."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise syntax_error(text[position], position, position + 1)
        position = match.end()
        if match.lastgroup != "SPACE":
            yield _token(match)
    yield Token(kind=TokenKind.END, text="", start=position, end=position)


def syntax_error(near: str, start: int, end: int) -> CosmosError:
    """400, for what the grammar does not know."""
    return query_error("SC1001", f"Syntax error, incorrect syntax near '{near}'.", start, end)


def query_error(code: str, message: str, start: int, end: int) -> CosmosError:
    """400, in the form that the service describes errors of a query in."""
    error = {
        "severity": "Error",
        "location": {"start": start, "end": end},
        "code": code,
        "message": message,
    }
    return bad_request(strict_json.encode({"errors": [error]}).decode())


def _token(match: re.Match[str]) -> Token:
    text, kind = match.group(), TokenKind[str(match.lastgroup)]
    if kind is TokenKind.STRING:
        text = _ESCAPE.sub(_unescaped, text[1:-1])
    elif kind is TokenKind.IDENTIFIER and text.upper() in RESERVED:
        kind, text = TokenKind.KEYWORD, text.upper()
    return Token(kind=kind, text=text, start=match.start(), end=match.end())


def _unescaped(escape: re.Match[str]) -> str:
    code, character = escape.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(character, character)
