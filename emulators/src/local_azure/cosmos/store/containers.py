"""Containers: where documents are kept, by partition and in the order of their changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal

from local_azure.cosmos.store.partition_keys import PartitionKey, partition_of
from local_azure.cosmos.store.transactions import Transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from local_azure.cosmos.store.documents import Stored
    from local_azure.cosmos.store.properties import ContainerProperties

_WRITES_BETWEEN_PURGES: Final = 1024

ExpiredIds = Literal["free", "taken"]
"""Whether a document may be created under the id of an expired one that is not purged yet."""


@dataclass(eq=False, slots=True, kw_only=True)
class Container:
    """The documents of one container.

    Attributes:
        properties: Its settings.
        rid: Its resource id.
        link: Its ``_self``.
        etag: Changes with its settings.
        changed_at: When its settings last changed, in seconds since the epoch.
        writes: Numbers that no other write of the account has.
        expired_ids: What becomes of the id of an expired document.
        lsn: How many transactions have been committed.
        _partitions: The documents by partition and id.
        _changes: The documents by their sequence, the one that changed last at the end.
    """

    properties: ContainerProperties
    rid: str
    link: str
    etag: str
    changed_at: int
    writes: Iterator[int]
    expired_ids: ExpiredIds
    lsn: int = 0
    _partitions: dict[PartitionKey, dict[str, Stored]] = field(default_factory=dict)
    _changes: dict[int, Stored] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The container as the service shows it."""
        return self.properties.as_json() | {
            "_rid": self.rid,
            "_self": self.link,
            "_etag": self.etag,
            "_ts": self.changed_at,
            "_docs": "docs/",
            "_sprocs": "sprocs/",
            "_triggers": "triggers/",
            "_udfs": "udfs/",
            "_conflicts": "conflicts/",
        }

    def documents(self, now: float) -> list[Stored]:
        """All documents that have not expired, in the order in which they were created."""
        return self._alive_in_sequence(tuple(self._changes.values()), now)

    def partition(self, key: PartitionKey, now: float) -> list[Stored]:
        """The documents of one partition, likewise."""
        found = self._partitions.get(partition_of(key, self.properties), {})
        return self._alive_in_sequence(tuple(found.values()), now)

    def changes(self, since: int, now: float) -> list[Stored]:
        """The latest versions written after a log sequence number, the earliest first."""
        newest_first = takewhile(
            lambda found: found.lsn > since, reversed(tuple(self._changes.values()))
        )
        default_ttl = self.properties.default_ttl
        return [found for found in newest_first if found.is_alive(now, default_ttl)][::-1]

    def _alive_in_sequence(self, found: Iterable[Stored], now: float) -> list[Stored]:
        default_ttl = self.properties.default_ttl
        alive = (document for document in found if document.is_alive(now, default_ttl))
        return sorted(alive, key=attrgetter("sequence"))

    def begin(self, key: PartitionKey, now: float) -> Transaction:
        """Starts a transaction in the partition that the key names."""
        partition = self._partitions.get(partition_of(key, self.properties), {})
        return Transaction(container=self, key=key, now=now, _partition=partition)

    def apply(self, key: PartitionKey, changes: Mapping[str, Stored | None], now: float) -> None:
        """Makes a transaction's changes take effect; ``None`` deletes."""
        self.lsn += 1
        name = partition_of(key, self.properties)
        partition = self._partitions.setdefault(name, {})
        self._forget(partition, changes)
        for document_id, document in changes.items():
            if document is not None:
                partition[document_id] = document
                self._changes[document.sequence] = document
        if not partition:
            del self._partitions[name]
        if self.lsn % _WRITES_BETWEEN_PURGES == 0:
            self.purge(now)

    def purge(self, now: float) -> None:
        """Deletes what has expired for good, so that no later ``defaultTtl`` brings it back."""
        default_ttl = self.properties.default_ttl
        for name, partition in tuple(self._partitions.items()):
            dead = [key for key, found in partition.items() if not found.is_alive(now, default_ttl)]
            self._forget(partition, dead)
            if not partition:
                del self._partitions[name]

    def _forget(self, partition: dict[str, Stored], document_ids: Iterable[str]) -> None:
        for document_id in document_ids:
            found = partition.pop(document_id, None)
            if found is not None:
                del self._changes[found.sequence]
