"""The words and signs that the text of a rule is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<SPACE>     \s+ )
  | (?P<NUMBER>    (?: \d+ (?:\.\d*)? | \.\d+ ) (?: [eE][+-]?\d+ )? )
  | (?P<STRING>    '(?:[^']|'')*' )
  | (?P<NAME>      "(?:[^"]|"")+" | \[(?:[^\]]|\]\])+\] )
  | (?P<PARAMETER> @\w+ )
  | (?P<WORD>      [^\W\d]\w* )
  | (?P<SIGN>      <= | >= | != | <> | [-+*/%=<>(),.;] )
    """,
    re.VERBOSE,
)
_KEYWORDS = frozenset(
    "AND ESCAPE EXISTS FALSE IN IS LIKE NOT NULL OR REMOVE SET TRUE".split()  # noqa: SIM905
)


class Kind(Enum):
    """What a token is; a quoted name is a name whatever it spells."""

    NUMBER = auto()
    STRING = auto()
    PARAMETER = auto()
    KEYWORD = auto()
    NAME = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign: without its quotes, a keyword in capitals."""

    kind: Kind
    text: str


def tokens(text: str) -> Iterator[Token]:
    """Takes a text apart; raises ``ValueError`` where nothing fits."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"{text[at]!r} at position {at} is not understood")
        at = found.end()
        if found.lastgroup != "SPACE":
            yield _token(str(found.lastgroup), found.group())
    yield Token(Kind.END, "")


def _token(group: str, text: str) -> Token:
    match group:
        case "WORD" if text.upper() in _KEYWORDS:
            return Token(Kind.KEYWORD, text.upper())
        case "WORD":
            return Token(Kind.NAME, text)
        case "NAME" | "STRING":
            return Token(Kind[group], text[1:-1].replace(text[-1] * 2, text[-1]))
        case _:
            return Token(Kind[group], text)
