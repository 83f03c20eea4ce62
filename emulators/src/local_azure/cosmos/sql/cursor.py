"""Reading the tokens of a query one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from local_azure.cosmos.sql.tokens import Token, TokenKind, syntax_error, tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.cosmos.errors import CosmosError

_Item = TypeVar("_Item")


class Cursor:
    """A place in a query's text; whoever derives from it reads what comes next."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._next = next(self._tokens)

    def _list(self, item: Callable[[], _Item], separator: str = ",") -> list[_Item]:
        items = [item()]
        while self._accepts(separator):
            items.append(item())
        return items

    def _until(self, end: str, item: Callable[[], _Item]) -> list[_Item]:
        items = [] if self._is_sign(end) else self._list(item)
        self._expect(end)
        return items

    def _is_sign(self, text: str | None = None) -> bool:
        return self._next.kind is TokenKind.SIGN and text in (None, self._next.text)

    def _is_keyword(self, text: str) -> bool:
        return self._next.kind is TokenKind.KEYWORD and text == self._next.text

    def _accepts(self, text: str, *more: str) -> bool:
        """Takes a sign or keyword if it comes next; further ones must then follow."""
        if not (self._is_sign(text) or self._is_keyword(text)):
            return False
        self._advance()
        for following in more:
            self._expect(following)
        return True

    def _expect(self, text: str) -> None:
        if not self._accepts(text):
            raise unexpected(self._next)

    def _take(self, kind: TokenKind) -> Token:
        if self._next.kind is not kind:
            raise unexpected(self._next)
        return self._advance()

    def _advance(self) -> Token:
        token = self._next
        if token.kind is not TokenKind.END:
            self._next = next(self._tokens)
        return token

    def _end(self) -> None:
        if self._next.kind is not TokenKind.END:
            raise unexpected(self._next)


def unexpected(token: Token) -> CosmosError:
    """400, for a token that cannot stand where it stands."""
    return syntax_error(token.text, token.start, token.end)
