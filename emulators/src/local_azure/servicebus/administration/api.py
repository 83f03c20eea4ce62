"""The management API over HTTP: who may ask, for what, and how answers look."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from aiohttp import web

from local_azure.servicebus.administration import atom
from local_azure.servicebus.administration.catalogue import Catalogue, Place
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.nodes.exchange import failure
from local_azure.servicebus.nodes.management.body import argument_error
from local_azure.servicebus.nodes.tokens import is_sas, unauthorized, verify_jwt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from local_azure.servicebus.administration.atom import Entry
    from local_azure.servicebus.administration.descriptions import Record
    from local_azure.servicebus.broker.entities import Entities
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.tokens import SharedAccessKey

_RULES = re.compile(r"(.+)/subscriptions/([^/]+)/rules", re.IGNORECASE)
_SUBSCRIPTIONS = re.compile(r"(.+)/subscriptions", re.IGNORECASE)
_MAX_PAGE = 100
_MAX_DIGITS = 9
_BEARER = "Bearer "


class Administration:
    """Answers the requests of ``ServiceBusAdministrationClient``.

    Args:
        entities: What is administered.
        key: Opens the namespace; well-formed web tokens do too.
    """

    def __init__(self, entities: Entities[WireContent], key: SharedAccessKey) -> None:
        self._entities = entities
        self._key = key
        self._records: WeakKeyDictionary[object, Record] = WeakKeyDictionary()

    def routes(self) -> list[web.RouteDef]:
        """The routes; they match every path, so they come after all others."""
        return [
            web.get("/{path:.+}", self._get),
            web.put("/{path:.+}", self._put),
            web.delete("/{path:.+}", self._delete),
        ]

    async def _get(self, request: web.Request) -> web.Response:
        return self._answered(request, lambda: self._found(request))

    async def _put(self, request: web.Request) -> web.Response:
        body = await request.read()
        return self._answered(request, lambda: self._stored(request, body))

    async def _delete(self, request: web.Request) -> web.Response:
        def delete() -> web.Response:
            self._catalogue(request).delete(Place.of(_path(request)))
            return web.Response()

        return self._answered(request, delete)

    def _answered(self, request: web.Request, answer: Callable[[], web.Response]) -> web.Response:
        try:
            self._authorize(request.headers.get("Authorization", ""))
            return answer()
        except AmqpError as error:
            status, text = failure(error)
            return _xml(atom.error_document(status, text), status)

    def _authorize(self, token: str) -> None:
        if is_sas(token):
            self._key.verify(token, time.time())
        elif token.startswith(_BEARER):
            verify_jwt(token.removeprefix(_BEARER), time.time())
        else:
            raise unauthorized("MissingToken: The authorization header is missing.")

    def _catalogue(self, request: web.Request) -> Catalogue:
        base_url = f"{request.scheme}://{request.host}"
        return Catalogue(self._entities, self._records, base_url)

    # ------------------------------------------------------------ answers

    def _found(self, request: web.Request) -> web.Response:
        path, catalogue = _path(request), self._catalogue(request)
        match path.lower():
            case "$namespaceinfo":
                return _xml(atom.entry_document(_namespace(request)))
            case "$resources/queues":
                return _page(request, "Queues", catalogue.queues())
            case "$resources/topics":
                return _page(request, "Topics", catalogue.topics())
            case _:
                return self._found_in(catalogue, path, request)

    def _found_in(self, catalogue: Catalogue, path: str, request: web.Request) -> web.Response:
        if rules := _RULES.fullmatch(path):
            return _page(request, "Rules", catalogue.rules(*rules.groups()))
        if subscriptions := _SUBSCRIPTIONS.fullmatch(path):
            return _page(request, "Subscriptions", catalogue.subscriptions(subscriptions[1]))
        return _xml(atom.entry_document(catalogue.get(Place.of(path))))

    def _stored(self, request: web.Request, body: bytes) -> web.Response:
        """Creates, or updates where the client says that it is there."""
        place, catalogue = Place.of(_path(request)), self._catalogue(request)
        described = atom.description_in(body)
        updates = "If-Match" in request.headers
        (catalogue.update if updates else catalogue.create)(place, described)
        return _xml(atom.entry_document(catalogue.get(place)), 200 if updates else 201)


def _path(request: web.Request) -> str:
    return request.match_info["path"].strip("/")


def _xml(document: bytes, status: int = 200) -> web.Response:
    return web.Response(
        body=document, status=status, content_type="application/atom+xml", charset="utf-8"
    )


def _page(request: web.Request, title: str, entries: Iterable[Entry]) -> web.Response:
    skip, top = _number(request, "$skip", 0), min(_number(request, "$top", _MAX_PAGE), _MAX_PAGE)
    listed = list(entries)
    more = skip + top < len(listed)
    following = request.url.update_query({"$skip": skip + top, "$top": top})
    return _xml(
        atom.feed_document(
            title, str(request.url), listed[skip : skip + top], str(following) if more else None
        )
    )


def _number(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, str(default))
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise argument_error(f"{name} is a number of at most {_MAX_DIGITS} digits.")
    return int(text)


def _namespace(request: web.Request) -> Entry:
    now = datetime.now(UTC)
    values = {
        "CreatedTime": atom.timestamp(now),
        "MessagingSKU": "Standard",
        "ModifiedTime": atom.timestamp(now),
        "Name": request.host,
        "NamespaceType": "Messaging",
    }
    described = atom.element(
        f"{atom.SERVICE_BUS}NamespaceInfo",
        *(atom.service_bus(tag, text) for tag, text in values.items()),
    )
    return atom.Entry(
        title=request.host,
        url=str(request.url),
        created_at=now,
        updated_at=now,
        description=described,
    )
