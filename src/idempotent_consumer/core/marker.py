"""The marker: the record, in a document, that a message was applied.

All its fields sit under one reserved property, so that whoever owns the document sees one
foreign name in it. What is written here is read for years: `tests/unit/core/golden` pins it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from idempotent_consumer.core.request_hash import TAG, RequestHash, Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from idempotent_consumer.core.delivery import JsonObject

PROPERTY = "idempotency"
"""The reserved property of a document that holds its marker."""

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """That, when and by whom a message was applied, and what it asked for.

    Attributes:
        token: Names the attempt that wrote it: drawn anew for each handling of a delivery,
            the same through all its retries.
        committed_at: By the consumer's clock, just before the commit.
        sequence_number: The broker's number of the copy that was applied.
        field_digests: A short digest per field, salted with the token.
    """

    consumer: str
    key: str
    request_hash: RequestHash
    token: str
    committed_at: datetime
    sequence_number: int | None
    enqueued_time: datetime | None
    field_digests: Mapping[str, str]

    def as_json(self) -> JsonObject:
        """The marker as it is stored."""
        selection = self.request_hash.selection
        return {
            "schemaVersion": SCHEMA_VERSION,
            "state": "applied",
            "consumer": self.consumer,
            "key": self.key,
            "hash": {
                "tag": self.request_hash.tag,
                "digest": self.request_hash.digest,
                "without": list(selection.without),
                "only": None if selection.only is None else list(selection.only),
                "properties": list(selection.properties),
            },
            "token": self.token,
            "committedAt": self.committed_at.isoformat(),
            # Text: the numbers of partitioned entities exceed 2^53, where Cosmos DB rounds.
            "sequenceNumber": None if self.sequence_number is None else str(self.sequence_number),
            "enqueuedTime": None if self.enqueued_time is None else self.enqueued_time.isoformat(),
            "fieldDigests": dict(self.field_digests),
        }


@dataclass(frozen=True, slots=True)
class Illegible:
    """A marker that this version cannot read or compare: a later one wrote it, or a hand."""


def read_marker(document: Mapping[str, Any]) -> Marker | Illegible | None:
    """The document's marker; ``None`` where it has none."""
    stored = document.get(PROPERTY)
    if stored is None:
        return None
    try:
        return _read(stored) if _comparable(stored) else Illegible()
    except (KeyError, TypeError, ValueError, AttributeError):
        return Illegible()


def _comparable(stored: Mapping[str, Any]) -> bool:
    return bool(
        stored["schemaVersion"] == SCHEMA_VERSION
        and stored["state"] == "applied"
        and stored["hash"]["tag"] == TAG
    )


def _read(stored: Mapping[str, Any]) -> Marker:
    recorded = stored["hash"]
    number, enqueued = stored["sequenceNumber"], stored["enqueuedTime"]
    return Marker(
        consumer=stored["consumer"],
        key=stored["key"],
        request_hash=RequestHash(
            tag=recorded["tag"],
            digest=_text(recorded["digest"]),
            selection=Selection(
                without=recorded["without"],
                only=recorded["only"],
                properties=recorded["properties"],
            ),
        ),
        token=stored["token"],
        committed_at=_moment(stored["committedAt"]),
        sequence_number=None if number is None else int(number),
        enqueued_time=None if enqueued is None else _moment(enqueued),
        field_digests={
            _text(name): _text(digest) for name, digest in stored["fieldDigests"].items()
        },
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone is none")
    return moment
