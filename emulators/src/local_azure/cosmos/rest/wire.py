"""Requests and responses of the REST protocol, free of sockets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_REQUEST_BYTES: Final = 2 * 1024 * 1024
"""The service's limit of a request, and so of a batch; it is that of a document too."""

ACTIVITY_ID: Final = "x-ms-activity-id"
ALT_CONTENT_PATH: Final = "x-ms-alt-content-path"
BATCH_ATOMIC: Final = "x-ms-cosmos-batch-atomic"
BATCH_CONTINUES: Final = "x-ms-cosmos-batch-continue-on-error"
CHANGE_FEED: Final = "a-im"
CONTENT_ENCODING: Final = "content-encoding"
CONTENT_TYPE: Final = "content-type"
CONTINUATION: Final = "x-ms-continuation"
CROSS_PARTITION: Final = "x-ms-documentdb-query-enablecrosspartition"
DATE: Final = "x-ms-date"
END_EPK: Final = "x-ms-end-epk"
ETAG: Final = "etag"
IF_MATCH: Final = "if-match"
IF_MODIFIED_SINCE: Final = "if-modified-since"
IF_NONE_MATCH: Final = "if-none-match"
INTENDED_CONTAINER_RID: Final = "x-ms-cosmos-intended-collection-rid"
IS_BATCH: Final = "x-ms-cosmos-is-batch-request"
IS_QUERY: Final = "x-ms-documentdb-isquery"
IS_QUERY_PLAN: Final = "x-ms-cosmos-is-query-plan-request"
IS_UPSERT: Final = "x-ms-documentdb-is-upsert"
ITEM_COUNT: Final = "x-ms-item-count"
LSN: Final = "lsn"
MAX_ITEM_COUNT: Final = "x-ms-max-item-count"
PARTITION_KEY: Final = "x-ms-documentdb-partitionkey"
PARTITION_KEY_RANGE_ID: Final = "x-ms-documentdb-partitionkeyrangeid"
POPULATE_QUERY_METRICS: Final = "x-ms-documentdb-populatequerymetrics"
PREFER: Final = "prefer"
QUERY_METRICS: Final = "x-ms-documentdb-query-metrics"
REQUEST_CHARGE: Final = "x-ms-request-charge"
RETRY_AFTER_MS: Final = "x-ms-retry-after-ms"
SESSION_TOKEN: Final = "x-ms-session-token"  # noqa: S105  (the name of a header)
START_EPK: Final = "x-ms-start-epk"
SUB_STATUS: Final = "x-ms-substatus"

NARROWING: Final = (PARTITION_KEY, PARTITION_KEY_RANGE_ID, START_EPK)
"""Headers of which each asks for a part of a container."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it came in.

    Attributes:
        method: The verb, in capitals.
        path: The path as on the wire, percent signs and all, without the query string.
        headers: Looked up by lower-case names.
        scheme: ``http`` or ``https``.
        body: The payload, cut off somewhere past `MAX_REQUEST_BYTES`.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    scheme: str = "http"
    body: bytes = b""

    def says(self, header: str) -> bool:
        """Whether a yes-or-no header is there and says yes."""
        return self.headers.get(header, "").lower() == "true"

    def denies(self, header: str) -> bool:
        """Whether a yes-or-no header is there and says no."""
        return self.headers.get(header, "").lower() == "false"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer, ready to be written."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
