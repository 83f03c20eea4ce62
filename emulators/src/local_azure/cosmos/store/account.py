"""The account: its databases, their containers, and how a link is resolved to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from local_azure.cosmos import errors
from local_azure.cosmos.store.containers import Container
from local_azure.cosmos.store.documents import etag_of
from local_azure.cosmos.store.properties import container_properties, resource_id
from local_azure.cosmos.store.resource_ids import container_rid, database_rid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from local_azure.cosmos.store.containers import ExpiredIds


@dataclass(eq=False, slots=True, kw_only=True)
class Database:
    """A database and its containers by id."""

    id: str
    rid: str
    etag: str
    created_at: int
    containers: dict[str, Container] = field(default_factory=dict)

    @property
    def link(self) -> str:
        """Its ``_self``."""
        return f"dbs/{self.rid}/"

    def as_json(self) -> dict[str, Any]:
        """The database as the service shows it."""
        return {
            "id": self.id,
            "_rid": self.rid,
            "_self": self.link,
            "_etag": self.etag,
            "_colls": "colls/",
            "_users": "users/",
            "_ts": self.created_at,
        }


class Account:
    """All databases, in memory.

    Args:
        now: Seconds since the epoch.
        expired_ids: What becomes of the ids of expired documents.
    """

    def __init__(self, now: Callable[[], float], expired_ids: ExpiredIds) -> None:
        self._now = now
        self._expired_ids = expired_ids
        self._writes: Iterator[int] = count(1)
        self._databases: dict[str, Database] = {}

    def databases(self) -> list[Database]:
        """All databases."""
        return list(self._databases.values())

    def database(self, name: str) -> Database:
        """The database of that id; 404 if there is none."""
        if name not in self._databases:
            raise errors.not_found()
        return self._databases[name]

    def create_database(self, body: object) -> Database:
        """Adds a database; 409 if there is one of that id."""
        name = resource_id(body)
        if name in self._databases:
            raise errors.conflict()
        number = next(self._writes)
        now = self._now()
        self._databases[name] = Database(
            id=name, rid=database_rid(number), etag=etag_of(number, now), created_at=int(now)
        )
        return self._databases[name]

    def ensure_database(self, name: str) -> None:
        """Adds a database unless there is one of that id."""
        if name not in self._databases:
            self.create_database({"id": name})

    def delete_database(self, name: str) -> None:
        """Removes a database with all it holds."""
        self.database(name)
        del self._databases[name]

    def container(self, database: str, name: str) -> Container:
        """The container of that id; 404 if there is none."""
        containers = self.database(database).containers
        if name not in containers:
            raise errors.not_found()
        return containers[name]

    def item_container(self, names: Sequence[str]) -> Container:
        """The container that an operation on documents goes to."""
        containers = self.owner(names[0]).containers
        if names[1] not in containers:
            raise errors.owner_not_found()
        return containers[names[1]]

    def owner(self, database: str) -> Database:
        """The database that an operation on its containers goes to."""
        if database not in self._databases:
            raise errors.owner_not_found()
        return self._databases[database]

    def create_container(self, database_id: str, body: object) -> Container:
        """Adds a container; 409 if the database has one of that id."""
        database = self.owner(database_id)
        properties = container_properties(database_id, body)
        if properties.id in database.containers:
            raise errors.conflict()
        number = next(self._writes)
        now = self._now()
        rid = container_rid(database.rid, number)
        database.containers[properties.id] = Container(
            properties=properties,
            rid=rid,
            link=f"{database.link}colls/{rid}/",
            etag=etag_of(number, now),
            changed_at=int(now),
            writes=self._writes,
            expired_ids=self._expired_ids,
        )
        return database.containers[properties.id]

    def replace_container(self, database: str, name: str, body: object) -> Container:
        """Changes a container's settings."""
        container = self.container(database, name)
        properties = container.properties.replaced_by(body)
        now = self._now()
        container.purge(now)
        container.properties = properties
        container.etag = etag_of(next(self._writes), now)
        container.changed_at = int(now)
        return container

    def delete_container(self, database: str, name: str) -> None:
        """Removes a container with its documents."""
        self.container(database, name)
        del self._databases[database].containers[name]

    def names(self, segments: Sequence[str]) -> tuple[str, ...]:
        """The ids that a link's segments mean: they are ids already, or resource ids."""
        if segments and segments[0] not in self._databases:
            for database in self._databases.values():
                if database.rid == segments[0]:
                    return (database.id, *self._names_within(database, segments[1:]))
        return tuple(segments)

    def _names_within(self, database: Database, segments: Sequence[str]) -> Sequence[str]:
        for container in database.containers.values():
            if segments[:1] == (container.rid,):
                return (container.properties.id, *self._document_names(container, segments[1:]))
        return segments

    def _document_names(self, container: Container, rids: Sequence[str]) -> Sequence[str]:
        return [
            next((d.document["id"] for d in container.documents(self._now()) if d.rid == rid), rid)
            for rid in rids
        ]
