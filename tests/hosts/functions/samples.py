"""The settings of the app, messages, and a message's actions that only take note."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.acceptance.shop import SETTINGS, order
from tests.hosts.functions.message import HostMessage

if TYPE_CHECKING:
    from local_azure.cosmos import LocalCosmos
    from tests.hosts.functions.host import Refusal

ORDERS = "shop/orders"
CONTAINERS = {ORDERS: "/orderId"}


def app_settings(cosmos: LocalCosmos) -> dict[str, str]:
    """The sample's, with the store of the test."""
    return SETTINGS | {"Cosmos": cosmos.connection_string}


def message(body: object = None, message_id: str | None = "ord-1001", **more: Any) -> HostMessage:
    """A delivery of an order, unless told otherwise."""
    raw = body if isinstance(body, bytes) else json.dumps(order() if body is None else body)
    encoded = raw.encode() if isinstance(raw, str) else raw
    return HostMessage(body=encoded, message_id=message_id, **more)


@dataclass
class Noted:
    """Actions that confirm everything, once the refusals are used up.

    Attributes:
        said: What was asked for, refused or not.
        delay: Seconds before each answer.
        unanswered: The verb that is never answered.
    """

    refusals: list[Refusal] = field(default_factory=list)
    delay: float = 0.0
    unanswered: str = ""
    said: list[str] = field(default_factory=list)
    reason: str = ""
    description: str = ""

    async def complete(self) -> None:
        await self._note("complete")

    async def abandon(self) -> None:
        await self._note("abandon")

    async def dead_letter(self, reason: str, description: str) -> None:
        self.reason, self.description = reason, description
        await self._note("dead_letter")

    async def _note(self, verb: str) -> None:
        self.said.append(verb)
        await asyncio.sleep(3600 if verb == self.unanswered else self.delay)
        if self.refusals:
            raise self.refusals.pop(0)
