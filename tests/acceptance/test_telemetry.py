"""What reaches Azure Monitor: a real worker with the real exporter, and a loopback endpoint."""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from azure.servicebus import ServiceBusMessage

from idempotent_consumer.telemetry import DUPLICATE_AGE, DURATION, HANDLED, MESSAGES
from idempotent_consumer.wiring.telemetry import CONNECTION_STRING
from tests.acceptance.shop import ROOT, WINDOW, open_shop, order
from tests.infra.kql import evaluate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.acceptance.shop import Shop

CANARY = "canary-5f0e"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENDER = "00f067aa0ba902b7"
SILENT = {
    "APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true",
    "APPLICATIONINSIGHTS_SDKSTATS_DISABLED": "true",
    "APPLICATIONINSIGHTS_CONTROLPLANE_DISABLED": "true",
    "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS": "otel",
}
"""Keeps the exporter from telling Microsoft about itself, and from asking where it runs."""
PATIENCE = 25.0
"""Seconds for a story and the worker's end, less than an orchestrator grants the end alone."""

Row = dict[str, Any]


def connection_string(endpoint: str) -> str:
    key = "00000000-0000-0000-0000-000000000001"
    return f"InstrumentationKey={key};IngestionEndpoint={endpoint};LiveEndpoint={endpoint}"


@dataclass
class Ingestion:
    """The endpoint to which a connection string points.

    Attributes:
        received: What was posted, as text.
    """

    received: list[str] = field(default_factory=list)

    async def track(self, request: web.Request) -> web.Response:
        raw = await request.read()
        text = (gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw).decode()
        self.received.append(text)
        count = len(json.loads(text))
        return web.json_response({"itemsReceived": count, "itemsAccepted": count, "errors": []})

    def items(self, kind: str) -> list[Row]:
        """The data of one kind, and the tags beside it."""
        envelopes = [envelope for text in self.received for envelope in json.loads(text)]
        return [
            {"tags": envelope["tags"], **envelope["data"]["baseData"]}
            for envelope in envelopes
            if envelope["data"]["baseType"] == kind
        ]

    def kinds(self) -> set[str]:
        envelopes = [envelope for text in self.received for envelope in json.loads(text)]
        return {envelope["data"]["baseType"] for envelope in envelopes}

    def handled(self) -> list[Row]:
        """The log lines about messages."""
        return [item for item in self.items("MessageData") if item["message"] == HANDLED]

    def tables(self) -> dict[str, list[Row]]:
        """What Log Analytics makes of it, as far as the queries read it."""
        return {
            "AppTraces": [
                {"Message": item["message"], "ItemCount": 1, "Properties": item["properties"]}
                for item in self.items("MessageData")
            ],
            "AppMetrics": [
                {"Name": point["name"], "Sum": point["value"], "Properties": item["properties"]}
                for item in self.items("MetricData")
                for point in item["metrics"]
            ],
        }


@asynccontextmanager
async def serving(track: Any) -> AsyncIterator[str]:
    """The address at which the endpoint listens."""
    app = web.Application()
    app.router.add_post("/{version}/track", track)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield site.name
    await runner.cleanup()


async def send(shop: Shop, body: Any) -> None:
    """Sends as a producer that traces does, once any earlier copy is forgotten."""
    shop.bus.clock.advance(WINDOW)
    traceparent = f"00-{TRACE}-{SENDER}-01"
    message = ServiceBusMessage(
        json.dumps(body),
        message_id="ord-1001",
        correlation_id="basket-9",
        application_properties={"traceparent": traceparent, "tenant": CANARY, CANARY: 1},
    )
    await shop.sender.send_messages(message)


async def play(shop: Shop) -> None:
    """An order, the same again, and another under its id; then the worker is told to stop."""
    async with shop.worker_process() as worker:
        await send(shop, order(customerId=CANARY))
        await shop.completed()
        await send(shop, order(customerId=CANARY))
        await shop.completed(2)
        await send(shop, order(customerId=CANARY, currency="USD"))
        await shop.dead_lettered()
        worker.terminate()
        assert await worker.wait() == 0


async def play_and_receive(monkeypatch: pytest.MonkeyPatch) -> Ingestion:
    endpoint = Ingestion()
    async with serving(endpoint.track) as address, open_shop() as shop:
        monkeypatch.setenv(CONNECTION_STRING, connection_string(address))
        await play(shop)
    return endpoint


@pytest.fixture(scope="module")
def quiet_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.MonkeyPatch]:
    """What the worker inherits; the exporter keeps on disk what it could not send."""
    own = {"OTEL_TRACES_SAMPLER": "always_on", "TMPDIR": str(tmp_path_factory.mktemp("unsent"))}
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (SILENT | own).items():
            patched.setenv(name, value)
        yield patched


@pytest.fixture(scope="module")
def received(quiet_environment: pytest.MonkeyPatch) -> Ingestion:
    """What arrived of one story, played once for all that is asked of it."""
    return asyncio.run(play_and_receive(quiet_environment))


def query(name: str) -> str:
    return (ROOT / "infra" / "kql" / f"{name}.kql").read_text("utf-8")


def test_a_mismatch_is_a_row_that_its_alert_counts(received: Ingestion) -> None:
    assert evaluate(query("mismatch"), received.tables()) == [
        {"Consumer": "order-processor", "Mismatches": 1}
    ]
    assert evaluate(query("dead-lettered"), received.tables()) == [
        {"Consumer": "order-processor", "Reason": "RequestHashMismatch", "DeadLetters": 1}
    ]


def test_the_line_of_a_mismatch_says_which_message_and_what_differs(received: Ingestion) -> None:
    duplicate, mismatch = received.handled()
    assert duplicate["properties"]["outcome"] == "duplicate"
    assert mismatch["severityLevel"] == 3
    expected = {
        "consumer": "order-processor",
        "key": "ord-1001",
        "correlation_id": "basket-9",
        "outcome": "mismatch",
        "settlement": "dead_letter",
        "reason": "RequestHashMismatch",
    }
    assert mismatch["properties"].items() >= expected.items()
    assert mismatch["properties"]["description"].endswith("; differing: currency")


def test_each_message_is_a_request_in_the_trace_of_its_sender(received: Ingestion) -> None:
    requests = received.items("RequestData")
    assert {request["name"] for request in requests} == {"process orders"}
    assert {request["tags"]["ai.operation.id"] for request in requests} == {TRACE}
    assert {request["tags"]["ai.operation.parentId"] for request in requests} == {SENDER}
    assert [
        (request["properties"]["idempotent_consumer.outcome"], request["success"])
        for request in requests
    ] == [("applied", True), ("duplicate", True), ("mismatch", False)]


def test_a_line_belongs_to_the_request_of_its_message(received: Ingestion) -> None:
    _, *requests = received.items("RequestData")
    lines = received.handled()
    assert [line["tags"]["ai.operation.parentId"] for line in lines] == [
        request["id"] for request in requests
    ]


def test_each_metric_arrives_with_its_attributes(received: Ingestion) -> None:
    arrived: dict[str, set[str]] = {}
    for row in received.tables()["AppMetrics"]:
        arrived.setdefault(row["Name"], set()).update(row["Properties"] or ())
    assert {name: arrived[name] for name in arrived if name.startswith("idempotent")} == {
        MESSAGES: {"outcome", "cause", "consumer", "entity"},
        DURATION: {"outcome", "consumer", "entity"},
        DUPLICATE_AGE: {"cause", "consumer", "entity"},
    }


def test_nothing_is_traced_twice(received: Ingestion) -> None:
    """Requests to Cosmos DB would be dependencies, with the key in their URL."""
    assert received.kinds() == {"MessageData", "MetricData", "RequestData"}


def test_neither_body_nor_property_arrives(received: Ingestion) -> None:
    assert [text for text in received.received if CANARY in text] == []


async def hang(request: web.Request) -> web.Response:
    await asyncio.sleep(2 * PATIENCE)
    return web.Response()


async def refuse(request: web.Request) -> web.Response:
    return web.json_response({"message": "no such resource"}, status=400)


@pytest.mark.parametrize("endpoint", [hang, refuse])
async def test_an_endpoint_that_fails_holds_up_neither_messages_nor_the_end(
    shop: Shop, quiet_environment: pytest.MonkeyPatch, endpoint: Any
) -> None:
    async with serving(endpoint) as address:
        quiet_environment.setenv(CONNECTION_STRING, connection_string(address))
        async with asyncio.timeout(PATIENCE):
            await play(shop)
