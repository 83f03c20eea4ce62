"""Documents: which the service accepts, what it adds to them, how long they live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import bad_request, too_large
from local_azure.cosmos.store.properties import NO_EXPIRY, is_ttl

if TYPE_CHECKING:
    from local_azure.cosmos.store.partition_keys import PartitionKey

MAX_ID_BYTES: Final = 1023
MAX_DOCUMENT_BYTES: Final = 2 * 1024 * 1024
SYSTEM_PROPERTIES: Final = frozenset({"_rid", "_self", "_etag", "_attachments", "_ts"})
_FORBIDDEN_IN_IDS: Final = frozenset("/\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A version of a document.

    Attributes:
        document: The document with its system properties; never changed in place.
        encoded: The same as JSON.
        key: The partition that it belongs to.
        sequence: Rises with each document created; the same in all its versions.
        lsn: Number of the transaction that wrote it.
    """

    document: dict[str, Any]
    encoded: bytes
    key: PartitionKey
    sequence: int
    lsn: int

    @property
    def etag(self) -> str:
        """The version's mark."""
        return str(self.document["_etag"])

    @property
    def rid(self) -> str:
        """The document's resource id, the same in all its versions."""
        return str(self.document["_rid"])

    def is_alive(self, now: float, default_ttl: int | None) -> bool:
        """Whether the document is still there for clients."""
        if default_ttl is None:
            return True
        ttl = self.document.get("ttl", default_ttl)
        return bool(ttl == NO_EXPIRY or now < self.document["_ts"] + ttl)


def system_properties(container_link: str, rid: str, etag: str, now: float) -> dict[str, Any]:
    """What the service adds to a document."""
    return {
        "_rid": rid,
        "_self": f"{container_link}docs/{rid}/",
        "_etag": etag,
        "_attachments": "attachments/",
        "_ts": int(now),
    }


def etag_of(number: int, now: float) -> str:
    """An ETag, in the service's form, that no other write has."""
    return f'"{number:08x}-0000-0100-0000-{int(now):08x}0000"'


def check_size(document: dict[str, Any], encoded: bytes) -> None:
    """Raises 413 for a document over the limit, which counts UTF-8 and not what the service adds.

    Args:
        document: With its system properties.
        encoded: The same as JSON in ASCII, which is never shorter.
    """
    if len(encoded) <= MAX_DOCUMENT_BYTES:
        return
    own = {name: value for name, value in document.items() if name not in SYSTEM_PROPERTIES}
    if strict_json.utf8_size(own) > MAX_DOCUMENT_BYTES:
        raise too_large()


def checked_document(body: object) -> dict[str, Any]:
    """The body of a write, if it is one that the service accepts."""
    if not isinstance(body, dict):
        raise bad_request("The input content is invalid because it is not a JSON object.")
    _check_id(body.get("id"))
    if "ttl" in body and not is_ttl(body["ttl"]):
        raise bad_request("The input ttl is invalid: it is -1 or a positive number of seconds.")
    return body


def _check_id(document_id: object) -> None:
    if not isinstance(document_id, str) or not document_id:
        raise bad_request(
            "The input content is invalid because the required properties - 'id; ' - are missing"
        )
    if len(document_id.encode(errors="surrogatepass")) > MAX_ID_BYTES:
        raise bad_request(
            "The input name is invalid. Ensure to provide a unique non-empty string less than "
            f"'{MAX_ID_BYTES + 1}' characters."
        )
    if _FORBIDDEN_IN_IDS & {*document_id}:
        raise bad_request("The document's id contains '/' or '\\'.")
