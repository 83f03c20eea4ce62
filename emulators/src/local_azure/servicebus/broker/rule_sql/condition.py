"""Conditions: what a SQL filter chooses messages by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_azure.servicebus.broker.rule_sql.expression import Reader
from local_azure.servicebus.broker.rule_sql.values import as_truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_azure.servicebus.broker.fields import Fields


class Condition:
    """A condition that was read; ``ValueError`` if the text is none."""

    def __init__(self, text: str, parameters: Mapping[str, object]) -> None:
        reader = Reader(text, parameters)
        self._holds = reader.condition()
        reader.end()

    def holds(self, fields: Fields) -> bool:
        """Whether it is true of a message; raises `EvaluationError` where that cannot be said."""
        return as_truth(self._holds(fields)) is True
