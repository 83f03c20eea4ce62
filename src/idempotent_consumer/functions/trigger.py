"""The trigger that the host sees, with the bindings that the rest relies on."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import azure.functions as func

Handle = Callable[[func.ServiceBusMessage, func.Context], Awaitable[None]]


def blueprint(consumer: str, *, queue_name: str, connection: str, handle: Handle) -> func.Blueprint:
    """A function that hands each message to `handle`.

    The body is bound as bytes: of a body bound as text the host lets the fields overwrite
    the message's own properties, and changes what is not UTF-8. One message is one
    invocation, so that the host renews its lock.
    """
    trigger = func.Blueprint()  # type: ignore[no-untyped-call]

    @trigger.function_name(function_name(consumer))
    @trigger.service_bus_queue_trigger(
        arg_name="message",
        queue_name=queue_name,
        connection=connection,
        data_type=func.DataType.BINARY,
        cardinality=func.Cardinality.ONE,
        auto_complete_messages=False,
    )
    async def run(message: func.ServiceBusMessage, context: func.Context) -> None:
        await handle(message, context)

    return trigger


def function_name(consumer: str) -> str:
    """The consumer's name as far as the host takes it: it begins with a letter, has no dots."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", consumer)
    return name if name[0].isalpha() else f"consumer_{name}"
