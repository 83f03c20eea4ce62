"""What the doctor talks to besides the emulators: a namespace's management, odd accounts."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from idempotent_consumer.doctor.properties import duration_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from local_azure.cosmos import LocalCosmos
    from local_azure.servicebus import QueueProperties

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

WITHOUT_END = "P10675199DT2H48M5.4775807S"
"""How the service writes the longest duration it knows."""


@asynccontextmanager
async def served(answer: Handler) -> AsyncIterator[str]:
    """The address at which every request is answered so."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(application) as server:
        yield str(server.make_url("")).rstrip("/")


def management_of(queues: Mapping[str, QueueProperties], **more: str) -> Handler:
    """Shows the queues as the service does; a queue that is not there as an empty feed.

    Args:
        more: Properties that are not the emulator's, or otherwise than it has them.
    """

    async def answer(request: web.Request) -> web.Response:
        queue = queues.get(request.path.strip("/"))
        body = "<feed xmlns='http://www.w3.org/2005/Atom'/>"
        if queue is not None:
            body = _entry({**_description(queue), **more})
        return web.Response(text=body, content_type="application/atom+xml")

    return answer


def _description(queue: QueueProperties) -> dict[str, str]:
    return {
        "LockDuration": duration_text(queue.lock_duration),
        "RequiresDuplicateDetection": str(queue.requires_duplicate_detection).lower(),
        "RequiresSession": "false",
        "DefaultMessageTimeToLive": duration_text(queue.default_message_time_to_live),
        "DeadLetteringOnMessageExpiration": str(queue.dead_lettering_on_message_expiration).lower(),
        "DuplicateDetectionHistoryTimeWindow": duration_text(
            queue.duplicate_detection_history_time_window
        ),
        "MaxDeliveryCount": str(queue.max_delivery_count),
        "EnablePartitioning": "false",
    }


def _entry(description: Mapping[str, str]) -> str:
    inside = "".join(f"<{name}>{value}</{name}>" for name, value in description.items())
    return (
        "<entry xmlns='http://www.w3.org/2005/Atom'><content type='application/xml'>"
        "<QueueDescription xmlns='http://schemas.microsoft.com/netservices/2010/10/servicebus/"
        f"connect'>{inside}</QueueDescription></content></entry>"
    )


def several_write_regions(cosmos: LocalCosmos) -> Handler:
    """The account, saying of itself that it can be written to in several regions."""

    async def answer(request: web.Request) -> web.Response:
        async with (
            ClientSession() as session,
            session.request(
                request.method,
                f"{cosmos.endpoint.rstrip('/')}{request.raw_path}",
                headers=request.headers,
                data=await request.read(),
            ) as answered,
        ):
            body = await answered.read()
            if request.path == "/":
                body = _written_to_everywhere(await answered.json(), f"{request.url}")
            return web.Response(
                body=body, status=answered.status, content_type=answered.content_type
            )

    return answer


def _written_to_everywhere(account: dict[str, object], address: str) -> bytes:
    regions = [{"name": name, "databaseAccountEndpoint": address} for name in ("here", "there")]
    return json.dumps(
        {
            **account,
            "writableLocations": regions,
            "readableLocations": regions,
            "enableMultipleWriteLocations": True,
        }
    ).encode()
