"""Atom: the envelope that descriptions of entities come and go in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from local_azure.servicebus.nodes.management.body import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

Element = ElementTree.Element

ATOM = "{http://www.w3.org/2005/Atom}"
SERVICE_BUS = "{http://schemas.microsoft.com/netservices/2010/10/servicebus/connect}"
COUNTS = "{http://schemas.microsoft.com/netservices/2011/06/servicebus}"
INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}"
SCHEMA = "http://www.w3.org/2001/XMLSchema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A description of something that has a name and an address."""

    title: str
    url: str
    created_at: datetime
    updated_at: datetime
    description: Element


def element(tag: str, *children: Element, text: str | None = None, **attributes: str) -> Element:
    """An element with its contents."""
    made = ElementTree.Element(tag, attributes)
    made.text = text
    made.extend(children)
    return made


def service_bus(tag: str, text: str) -> Element:
    """An element of a description."""
    return element(SERVICE_BUS + tag, text=text)


def timestamp(moment: datetime) -> str:
    """A time as XML has it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def description_in(body: bytes) -> Element:
    """The description in a request; raises `AmqpError` if the body is no entry with one."""
    if b"<!DOCTYPE" in body:
        raise argument_error("A document type is not needed and not taken.")
    try:
        entry = ElementTree.fromstring(body)  # noqa: S314 - it defines no entities: see above
    except (ElementTree.ParseError, ValueError) as error:
        raise argument_error(f"The body is not XML: {error}") from error
    found = entry.find(f"{ATOM}content/*")
    if found is None:
        raise argument_error("The body has no content.")
    return found


def tag_of(described: Element) -> str:
    """The name of an element without its namespace."""
    return described.tag.rpartition("}")[2]


def entry_document(entry: Entry) -> bytes:
    """The document of one entry."""
    return _document(_entry(entry))


def feed_document(title: str, url: str, entries: Sequence[Entry], next_url: str | None) -> bytes:
    """The document of a page of entries."""
    links = [_link("self", url)] + ([_link("next", next_url)] if next_url else [])
    feed = element(
        f"{ATOM}feed",
        element(f"{ATOM}title", text=title, type="text"),
        element(f"{ATOM}id", text=url),
        element(f"{ATOM}updated", text=timestamp(datetime.now(UTC))),
        *links,
        *map(_entry, entries),
    )
    return _document(feed)


def error_document(status: int, detail: str) -> bytes:
    """The document of a refusal."""
    return _document(
        element("Error", element("Code", text=str(status)), element("Detail", text=detail))
    )


def _entry(entry: Entry) -> Element:
    return element(
        f"{ATOM}entry",
        element(f"{ATOM}id", text=entry.url),
        element(f"{ATOM}title", text=entry.title, type="text"),
        element(f"{ATOM}published", text=timestamp(entry.created_at)),
        element(f"{ATOM}updated", text=timestamp(entry.updated_at)),
        element(f"{ATOM}author", element(f"{ATOM}name", text="local-azure")),
        _link("self", entry.url),
        element(f"{ATOM}content", entry.description, type="application/xml"),
    )


def _link(kind: str, url: str) -> Element:
    return element(f"{ATOM}link", rel=kind, href=url)


def _document(root: Element) -> bytes:
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document
