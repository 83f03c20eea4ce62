"""What entities, subscriptions and rules may be called."""

from __future__ import annotations

import re
from typing import Final

_ENTITY: Final = re.compile(r"[A-Za-z0-9](?:[\w./~-]{0,258}[A-Za-z0-9])?", re.ASCII)
_SUBSCRIPTION: Final = re.compile(r"[A-Za-z0-9_](?:[\w.-]{0,48}\w)?", re.ASCII)
_RULE: Final = re.compile(r"[A-Za-z0-9_$](?:[\w.-]{0,48}\w)?", re.ASCII)
_NOT_A_SEGMENT: Final = frozenset({"", ".", ".."})
_SUBSCRIPTIONS: Final = "subscriptions"


def check_entity_name(name: object) -> None:
    """Refuses with `ValueError` what is no name of a queue or topic.

    Names may be paths, but not those that lead to something else: a topic's subscriptions.
    """
    segments = name.lower().split("/") if isinstance(name, str) else []
    if (
        not isinstance(name, str)
        or not _ENTITY.fullmatch(name)
        or not _NOT_A_SEGMENT.isdisjoint(segments)
        or _SUBSCRIPTIONS in segments[1:]
    ):
        raise ValueError(
            f"{_shown(name)} is no name of a queue or topic: these have 1 to 260 letters, digits, "
            "'.', '-', '_', '~' and '/', begin and end with a letter or digit, and no part "
            "between two '/' is empty, dots alone or 'Subscriptions'"
        )


def check_subscription_name(name: object) -> None:
    """Refuses with `ValueError` what is no name of a subscription."""
    if not isinstance(name, str) or not _SUBSCRIPTION.fullmatch(name):
        raise ValueError(
            f"{_shown(name)} is no name of a subscription: these have 1 to 50 letters, digits, "
            "'.', '-' and '_', and begin and end with none of '.' and '-'"
        )


def check_rule_name(name: object) -> None:
    """Refuses with `ValueError` what is no name of a rule; these may begin with a ``$``."""
    if not isinstance(name, str) or not _RULE.fullmatch(name):
        raise ValueError(
            f"{_shown(name)} is no name of a rule: these have 1 to 50 letters, digits, '.', '-' "
            "and '_', begin and end with none of '.' and '-', and may begin with '$'"
        )


def _shown(name: object) -> str:
    text = repr(name)
    return text if len(text) <= 80 else f"{text[:80]}…"
