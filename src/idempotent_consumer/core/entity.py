"""`Entity`: the business document that a message creates is its own marker.

Its id is the encoded key and its partition value the raw key, so every copy of a message
meets the same document, and creating it is the check and the write in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from idempotent_consumer.core.ids import encode_id
from idempotent_consumer.core.marker import PROPERTY
from idempotent_consumer.core.plan import NEVER, Plan, check_plan, check_ttl, refuse
from idempotent_consumer.core.pointers import ABSENT, Pointer, checked_pointers
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.request import Place
from idempotent_consumer.core.writes import Create

if TYPE_CHECKING:
    from collections.abc import Sequence

    from idempotent_consumer.core.marker import Marker
    from idempotent_consumer.core.writes import Write


class Entity:
    """The first document of the plan is the marker; for messages that create something.

    Args:
        immutable: JSON pointers to fields that stand alike in the body and in the stored
            document. They compare documents written before this library was used, which
            have no request hash.

    Raises:
        ValueError: A pointer is none, or a single one stands where a list belongs.
    """

    def __init__(self, *, immutable: Sequence[str] = ()) -> None:
        self.immutable = checked_pointers(immutable)

    def place(self, key: str) -> Place:
        """Where the marker of the message with this key lives."""
        return Place(partition=key, id=encode_id(key))

    def plan(
        self,
        writes: Sequence[Write],
        *,
        key: str,
        marker: Marker,
        partition_path: str,
        retention: int | None,
    ) -> Plan:
        """The handler's writes, completed, with the marker in the first.

        Args:
            partition_path: The container's, such as ``/orderId``.
            retention: Seconds that a marker has to live; ``None`` for ever.

        Raises:
            Rejected: ``KeyDisagrees``, ``TooManyDocuments``, ``TooLarge``.
            RefusedPlan: A plan that the handler should not have returned.
        """
        if not writes or not all(isinstance(write, Create) for write in writes):
            refuse("an Entity consumer returns a Create first, and Create alone")
        first, *others = (_own(write.document) for write in writes)
        path = Pointer(partition_path)
        _claim(first, key, path)
        _keep(first, retention)
        first["id"] = self.place(key).id
        first[PROPERTY] = marker.as_json()
        for document in others:
            _accompany(document, key, path)
        plan = Plan(place=self.place(key), operations=tuple(map(Create, (first, *others))))
        check_plan(plan)
        return plan


def _own(document: Mapping[str, Any]) -> dict[str, Any]:
    """A copy to complete; the handler's document stays as it is."""
    if not isinstance(document, Mapping):
        refuse("a document is no mapping")
    if PROPERTY in document:
        refuse(f"a document has the reserved property {PROPERTY!r}")
    return dict(document)


def _claim(document: dict[str, Any], key: str, path: Pointer) -> None:
    """Id and partition value are the key; where the document says otherwise, who is right?"""
    if document.get("id", key) != key:
        raise Rejected("the document's id is not the key", reason=Reason.KEY_DISAGREES)
    if path.find(document) not in (ABSENT, key):
        raise Rejected(f"the document's {path.text} is not the key", reason=Reason.KEY_DISAGREES)
    _put(document, key, path)


def _keep(document: dict[str, Any], retention: int | None) -> None:
    ttl = document.setdefault("ttl", NEVER)
    check_ttl(ttl)
    if ttl != NEVER and (retention is None or ttl < retention):
        refuse("the entity's ttl is shorter than the retention of its marker")


def _accompany(document: dict[str, Any], key: str, path: Pointer) -> None:
    raw = document.get("id")
    if not isinstance(raw, str) or not raw:
        refuse("a document has no id")
    if path.find(document) not in (ABSENT, key):
        refuse(f"a document's {path.text} puts it outside the message's partition")
    document["id"] = encode_id(raw)
    _put(document, key, path)


def _put(document: dict[str, Any], key: str, path: Pointer) -> None:
    try:
        path.put(document, key)
    except TypeError:
        refuse(f"a document has no object on the way to {path.text}")
