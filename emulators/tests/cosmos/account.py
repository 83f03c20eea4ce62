"""A signing client of the service's core."""

from __future__ import annotations

import base64
import hmac
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from local_azure.clock import Clock
from local_azure.cosmos import EMULATOR_KEY, ContainerProperties
from local_azure.cosmos.rest.service import Service
from local_azure.cosmos.rest.wire import Request, Response

NOW = 1_700_000_000.0
DATE = "mon, 30 nov 2026 12:00:00 gmt"
DOCS = "/dbs/shop/colls/orders/docs"


def signature(method: str, resource_type: str, link: str, key: str = EMULATOR_KEY) -> str:
    """The authorization header, as the documentation of the REST API describes it."""
    text = f"{method.lower()}\n{resource_type}\n{link}\n{DATE}\n\n"
    digest = hmac.digest(base64.b64decode(key), text.encode(), "sha256")
    return quote(f"type=master&ver=1.0&sig={base64.b64encode(digest).decode()}", safe="")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def outcome(self) -> tuple[int, int]:
        """Status and sub-status."""
        return self.status, int(self.headers.get("x-ms-substatus", 0))


class Account:
    """Signs requests and hands them to the service, without sockets or an event loop."""

    def __init__(self, service: Service, clock: Clock) -> None:
        self.service = service
        self.clock = clock

    def ask(
        self, method: str, path: str, body: Any = None, *, pk: Any = None, **headers: str
    ) -> Answer:
        """Sends a request; underscores in header names stand for hyphens."""
        parts = [unquote(part) for part in path.strip("/").split("/")]
        is_feed = len(parts) % 2 == 1
        link = "/".join(parts[:-1] if is_feed else parts)
        kind = parts[-1] if is_feed else parts[-2]
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"x-ms-date": DATE, "authorization": signature(method, kind, link)} | sent
        if pk is not None:
            sent["x-ms-documentdb-partitionkey"] = json.dumps(pk if isinstance(pk, list) else [pk])
        request = Request(method=method, path=path, headers=sent, body=_raw(body))
        return _answer(self.service.handle(request))

    def create(self, document: dict[str, Any], **headers: str) -> Answer:
        return self.ask("POST", DOCS, document, pk=document["orderId"], **headers)

    def read(self, document_id: str, pk: str = "1") -> Answer:
        return self.ask("GET", f"{DOCS}/{document_id}", pk=pk)

    def patch(
        self, document_id: str, *operations: Any, condition: str | None = None, **headers: str
    ) -> Answer:
        body = {"operations": list(operations)} | ({"condition": condition} if condition else {})
        return self.ask("PATCH", f"{DOCS}/{document_id}", body, pk="1", **headers)

    def query(
        self, text: str, parameters: Any = (), *, pk: Any = None, page: str = "-1", **headers: str
    ) -> Answer:
        """Over all partitions, unless one is named."""
        body = {"query": text, "parameters": list(parameters)}
        marked = {"x_ms_documentdb_isquery": "true", "x_ms_max_item_count": page} | headers
        marked |= {} if pk else {"x_ms_documentdb_query_enablecrosspartition": "True"} | headers
        return self.ask("POST", DOCS, body, pk=pk, **marked)

    def batch(self, *operations: dict[str, Any], pk: str = "1", **headers: str) -> Answer:
        marked = {"x_ms_cosmos_is_batch_request": "True"} | headers
        return self.ask("POST", DOCS, list(operations), pk=pk, **marked)


def _raw(body: Any) -> bytes:
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def _answer(response: Response) -> Answer:
    return Answer(response.status, dict(response.headers), response.body)


def new_account(properties: ContainerProperties | None = None, **options: Any) -> Account:
    clock = Clock(frozen_at=NOW)
    orders = properties or ContainerProperties(
        database="shop", id="orders", partition_key_paths=("/orderId",)
    )
    return Account(Service([orders], now=clock.now, **options), clock)
