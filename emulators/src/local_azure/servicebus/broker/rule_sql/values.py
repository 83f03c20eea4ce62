"""Values in rules: how they compare and compute. ``None`` is null, and unknown as an answer."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

from local_azure.servicebus.broker.limits import MAX_PROPERTY_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_INTEGERS = 1 << 63


class EvaluationError(Exception):
    """A rule does not fit the values in a message."""


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}


def compare(sign: str, left: object, right: object) -> bool | None:
    """A comparison; unknown if either side is null.

    Raises:
        EvaluationError: The two are not of one kind.
    """
    if left is None or right is None:
        return None
    if _kind(left) is not _kind(right):
        raise EvaluationError(f"{_name(left)} cannot be compared with {_name(right)}")
    try:
        return COMPARISONS[sign](left, right)
    except TypeError as error:
        raise EvaluationError(f"{_name(left)} is neither less nor more") from error


def compute(sign: str, left: object, right: object) -> object:
    """Arithmetic; ``+`` also joins text. Null if either side is.

    Raises:
        EvaluationError: The two cannot be computed with.
    """
    if left is None or right is None:
        return None
    kind = _kind(left)
    if kind is not _kind(right) or not (kind is float or (kind is str and sign == "+")):
        raise EvaluationError(f"{_name(left)} {sign} {_name(right)} cannot be computed")
    return _computed(sign, left, right)


def _computed(sign: str, left: Any, right: Any) -> object:
    whole = isinstance(left, int) and isinstance(right, int)
    try:
        result = _ARITHMETIC[sign](left, right)
    except (ArithmeticError, ValueError) as error:
        raise EvaluationError(str(error)) from error
    return _bounded(int(result) if whole else result)


def _bounded(result: object) -> object:
    """A result that a property can have: it may grow in every statement of an action."""
    if isinstance(result, int) and not -_INTEGERS <= result < _INTEGERS:
        raise EvaluationError("a number has more than 64 bits")
    if isinstance(result, str) and len(result) > MAX_PROPERTY_SIZE:
        raise EvaluationError(f"a text has more than {MAX_PROPERTY_SIZE} characters")
    return result


def _kind(value: object) -> type:
    """The family in which values compare; all numbers are one."""
    if isinstance(value, bool):
        return bool
    return next((kind for kind in (str, bytes) if isinstance(value, kind)), _numeric(value))


def _numeric(value: object) -> type:
    return float if isinstance(value, int | float) else type(value)


def _name(value: object) -> str:
    return type(value).__name__


def among(value: object, options: Iterable[object]) -> bool | None:
    """Whether a value equals one of several."""
    answers = [compare("=", value, option) for option in options]
    return any_of(answers)


def like(value: object, pattern: object, escape: object) -> bool | None:
    """Whether text has a form: ``%`` stands for any text, ``_`` for one character."""
    if value is None or pattern is None:
        return None
    if not isinstance(value, str) or not isinstance(pattern, str):
        raise EvaluationError("LIKE compares text alone")
    return re.fullmatch(_as_regex(pattern, escape), value, re.DOTALL) is not None


def _as_regex(pattern: str, escape: object) -> str:
    """Parts between ``%`` are looked for once each, the last one at the end."""
    parts, characters = [""], iter(pattern)
    for character in characters:
        if character == escape:
            parts[-1] += re.escape(next(characters, ""))
        elif character == "%":
            parts.append("")
        else:
            parts[-1] += "." if character == "_" else re.escape(character)
    if len(parts) == 1:
        return parts[0]
    first, *middle, last = parts
    return first + "".join(f"(?>.*?{part})" for part in middle) + ".*" + last


def negated(answer: object) -> bool | None:
    """NOT, in three values."""
    truth = as_truth(answer)
    return None if truth is None else not truth


def all_of(answers: Iterable[object]) -> bool | None:
    """AND, in three values."""
    truths = [as_truth(answer) for answer in answers]
    return False if False in truths else None if None in truths else True


def any_of(answers: Iterable[object]) -> bool | None:
    """OR, in three values."""
    truths = [as_truth(answer) for answer in answers]
    return True if True in truths else None if None in truths else False


def as_truth(value: object) -> bool | None:
    """A value as an answer; raises `EvaluationError` where it is none."""
    if value is None or isinstance(value, bool):
        return value
    raise EvaluationError(f"{_name(value)} is neither true nor false")
