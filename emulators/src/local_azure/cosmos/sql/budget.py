"""What a query may use up, so that none holds the emulator for long or fills its memory."""

from __future__ import annotations

from typing import Final

from local_azure.cosmos.errors import CosmosError, bad_request
from local_azure.cosmos.sql.values import Value, size_of

MAX_CHARACTERS: Final = 4 * 1024 * 1024
"""How large a value that a query makes may be, written as JSON."""

_STEPS: Final = 1_000_000
_STEPS_A_DOCUMENT: Final = 1_000
_STEPS_A_ROW: Final = 4
_CHARACTERS_A_STEP: Final = 256
_VALUES_MEASURED_A_STEP: Final = 4


class Budget:
    """The work that a query may still do: counted rather than timed, to end alike everywhere.

    A step is about a microsecond, and what an expression without its operands takes.
    """

    def __init__(self) -> None:
        self._left = _STEPS

    def grow(self) -> None:
        """Adds what one more document that is read allows for."""
        self._left += _STEPS_A_DOCUMENT

    def spend(self, steps: int = 1) -> None:
        """Takes steps off; raises 400 if none are left."""
        self._left -= steps
        if self._left < 0:
            raise bad_request("The query takes too much work: it evaluates too many expressions.")

    def spend_on_row(self) -> None:
        """Takes off what it costs to combine the sources' values once more."""
        self.spend(_STEPS_A_ROW)

    def spend_on(self, value: Value) -> None:
        """Takes off what it costs to go through a value."""
        if isinstance(value, str | list | dict):
            size = size_of(value, MAX_CHARACTERS)
            self.spend(size.values + size.characters // _CHARACTERS_A_STEP)

    def admit(self, value: Value) -> Value:
        """A value that the query has made, if it is not too large; raises 400 otherwise."""
        if isinstance(value, str | list | dict):
            size = size_of(value, MAX_CHARACTERS)
            self.spend(size.values // _VALUES_MEASURED_A_STEP)
            check_length(size.characters)
        return value


def check_length(length: int) -> None:
    """Raises 400 for more than `MAX_CHARACTERS`."""
    if length > MAX_CHARACTERS:
        raise _too_large()


def _too_large() -> CosmosError:
    return bad_request(f"The query makes a value of more than {MAX_CHARACTERS} characters.")
