"""Transactions: operations on the documents of one partition, together or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local_azure.cosmos import errors, strict_json
from local_azure.cosmos.sql.execution import meets
from local_azure.cosmos.store.documents import (
    Stored,
    check_size,
    checked_document,
    etag_of,
    system_properties,
)
from local_azure.cosmos.store.partition_keys import partition_key_of_document, value_at
from local_azure.cosmos.store.resource_ids import document_rid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local_azure.cosmos.store.containers import Container
    from local_azure.cosmos.store.partition_keys import PartitionKey
    from local_azure.cosmos.store.patch import Patch


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """ETags that an operation is conditional on."""

    if_match: str | None = None
    if_none_match: str | None = None

    def check_write(self, found: Stored) -> None:
        """Raises 412 unless the document is the version expected."""
        if not (self._matches(found) and self._is_new(found)):
            raise errors.precondition_failed()

    def check_read(self, found: Stored) -> None:
        """Raises 304 if the client has this version already."""
        if not self._is_new(found):
            raise errors.not_modified()

    def _matches(self, found: Stored) -> bool:
        return self.if_match in (None, "*", found.etag)

    def _is_new(self, found: Stored) -> bool:
        return self.if_none_match not in ("*", found.etag)


UNCONDITIONAL = Condition()


@dataclass(eq=False, slots=True, kw_only=True)
class Transaction:
    """Operations in one partition that take effect together, at `commit`, or not at all."""

    container: Container
    key: PartitionKey
    now: float
    _partition: Mapping[str, Stored]
    _changes: dict[str, Stored | None] = field(default_factory=dict)

    def create(self, body: object) -> Stored:
        """Adds a document whose id is free."""
        document = self._admitted(body)
        self._check_free(document["id"])
        return self._write(document, None)

    def read(self, document_id: str, condition: Condition = UNCONDITIONAL) -> Stored:
        """The document of that id."""
        found = self._get(document_id)
        condition.check_read(found)
        return found

    def replace(
        self, document_id: str, body: object, condition: Condition = UNCONDITIONAL
    ) -> Stored:
        """Puts the body in the place of a document; its id may change thereby."""
        document = self._admitted(body)
        found = self._get(document_id)
        condition.check_write(found)
        if document["id"] != document_id:
            self._check_free(document["id"])
            self._changes[document_id] = None
        return self._write(document, found)

    def upsert(self, body: object, condition: Condition = UNCONDITIONAL) -> tuple[Stored, bool]:
        """Creates or replaces; also says whether it created."""
        document = self._admitted(body)
        found = self._find(document["id"])
        if found is not None:
            condition.check_write(found)
        return self._write(document, found), found is None

    def patch(self, document_id: str, patch: Patch, condition: Condition = UNCONDITIONAL) -> Stored:
        """Changes a document in part; 412 if the patch's own condition does not hold."""
        found = self._get(document_id)
        condition.check_write(found)
        if patch.condition is not None and not meets(patch.condition, found.document, self.now):
            raise errors.precondition_failed()
        body = strict_json.decode(found.encoded)
        patch.apply(body)
        strict_json.check_depth(body)
        return self._write(self._admitted(body), found)

    def delete(self, document_id: str, condition: Condition = UNCONDITIONAL) -> Stored:
        """Removes a document and returns what it was."""
        found = self._get(document_id)
        condition.check_write(found)
        self._changes[document_id] = None
        return found

    def commit(self) -> None:
        """Makes every change take effect, under one log sequence number."""
        if self._changes:
            self.container.apply(self.key, self._changes, self.now)

    def _admitted(self, body: object) -> dict[str, Any]:
        document = checked_document(body)
        if partition_key_of_document(document, self.container.properties) != self.key:
            raise errors.partition_key_mismatch()
        return document

    def _get(self, document_id: str) -> Stored:
        found = self._find(document_id)
        if found is None:
            raise errors.not_found()
        return found

    def _find(self, document_id: str) -> Stored | None:
        if document_id in self._changes:
            return self._changes[document_id]
        found = self._partition.get(document_id)
        return found if found is not None and self._is_alive(found) else None

    def _check_free(self, document_id: str) -> None:
        if self._find(document_id) is not None or self._lingers(document_id):
            raise errors.conflict()

    def _lingers(self, document_id: str) -> bool:
        """Whether an expired document still takes up its id."""
        is_there = document_id in self._partition and document_id not in self._changes
        return is_there and self.container.expired_ids == "taken"

    def _is_alive(self, found: Stored) -> bool:
        return found.is_alive(self.now, self.container.properties.default_ttl)

    def _write(self, body: dict[str, Any], replaced: Stored | None) -> Stored:
        self._check_unique_keys(body, replaced)
        number = next(self.container.writes)
        sequence = replaced.sequence if replaced else number
        rid = document_rid(self.container.rid, sequence)
        etag = etag_of(number, self.now)
        document = body | system_properties(self.container.link, rid, etag, self.now)
        encoded = strict_json.encode(document)
        check_size(document, encoded)
        written = Stored(
            document=document,
            encoded=encoded,
            key=self.key,
            sequence=sequence,
            lsn=self.container.lsn + 1,
        )
        self._changes[body["id"]] = written
        return written

    def _check_unique_keys(self, document: dict[str, Any], replaced: Stored | None) -> None:
        unique_keys = self.container.properties.unique_keys
        if not unique_keys:
            return
        others = [other.document for other in self._visible() if other is not replaced]
        for paths in unique_keys:
            values = [value_at(document, path) for path in paths]
            if any(values == [value_at(other, path) for path in paths] for other in others):
                raise errors.unique_key_conflict()

    def _visible(self) -> Iterator[Stored]:
        """The partition's documents as this transaction sees them."""
        for document_id in self._partition.keys() | self._changes.keys():
            found = self._find(document_id)
            if found is not None:
                yield found
