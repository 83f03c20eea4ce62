"""Reads the body of a request; what is missing or of the wrong type is the client's error."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from local_azure.servicebus.amqp.errors import AmqpError

_T = TypeVar("_T")
Body = dict[object, object]


def argument_error(text: str) -> AmqpError:
    """The refusal of a request that cannot be understood."""
    return AmqpError("com.microsoft:argument-error", text)


def required(body: Body, name: str, kind: type[_T]) -> _T:
    """A field that must be there."""
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise argument_error(f"{name} is needed, as {kind.__name__}.")
    return value


def optional(body: Body, name: str, kind: type[_T]) -> _T | None:
    """A field that may be missing or null."""
    return None if body.get(name) is None else required(body, name, kind)


def natural(body: Body, name: str) -> int:
    """A number that must be there and not be negative."""
    number = required(body, name, int)
    if number < 0:
        raise argument_error(f"{name} cannot be negative.")
    return number


def each(body: Body, name: str, kind: type[_T]) -> list[_T]:
    """A field with one or more values."""
    values = body.get(name)
    listed = values if isinstance(values, list) else []
    found = [value for value in listed if isinstance(value, kind)]
    if not found or len(found) < len(listed):
        raise argument_error(f"{name} are needed.")
    return found


def lock_tokens(body: Body) -> list[UUID]:
    """The locks that a request is about."""
    return each(body, "lock-tokens", UUID)


def sequence_numbers(body: Body) -> list[int]:
    """The messages that a request is about."""
    return each(body, "sequence-numbers", int)
