"""Request and answer over a pair of links: the form that ``$cbs`` and ``$management`` share."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from local_azure.servicebus.amqp.decoding import decode
from local_azure.servicebus.amqp.errors import AmqpError, DecodeError
from local_azure.servicebus.amqp.held import too_much_held
from local_azure.servicebus.amqp.link import SERIAL
from local_azure.servicebus.amqp.message import (
    APPLICATION_PROPERTIES,
    PROPERTIES,
    VALUE,
    single_message,
    split,
)
from local_azure.servicebus.amqp.performatives import Accepted, Composite
from local_azure.servicebus.amqp.types import Described

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_azure.servicebus.amqp.link import Delivery, IncomingMessage, OutgoingLink
    from local_azure.servicebus.amqp.session import Session

_MESSAGE_ID, _REPLY_TO = 0, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request: what is asked for, and by whom."""

    session: Session
    message_id: object
    reply_to: object
    properties: dict[object, object]
    value: object

    @classmethod
    def parse(cls, message: IncomingMessage) -> Request:
        """Reads a request; raises `DecodeError` where it is malformed."""
        sections = split(message.encoded)
        fields = [*sections.decoded(PROPERTIES, list), *[None] * 5]
        return cls(
            session=message.link.session,
            message_id=fields[_MESSAGE_ID],
            reply_to=fields[_REPLY_TO],
            properties=sections.decoded(APPLICATION_PROPERTIES, dict),
            value=_value(sections.body),
        )


def _value(body: bytes) -> object:
    section = decode(body)
    if not isinstance(section, Described) or section.descriptor != VALUE:
        raise DecodeError("the body of a request is a value")
    return section.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer: application properties and a value."""

    properties: Mapping[str, object]
    value: object = None


class Responder(Protocol):
    """Who answers the requests of a node."""

    def respond(self, request: Request, exchange: Exchange) -> None:
        """Answers through ``exchange``, now or later."""


class Exchange:
    """A node for requests in one session: the target of requests, the source of answers."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self._waiting: dict[OutgoingLink, deque[bytes]] = {}
        self._tags = itertools.count()

    # ------------------------------------------------------------ as a target

    def take(self, message: IncomingMessage) -> None:
        """Takes a request and has it answered."""
        try:
            request = Request.parse(message)
        except DecodeError as error:
            message.reject(error)
            return
        message.settle(Accepted())
        self._responder.respond(request, self)

    # ------------------------------------------------------------ as a source

    def attached(self, link: OutgoingLink) -> None:
        """The client listens for answers."""
        self._waiting[link] = deque()

    def credited(self, link: OutgoingLink) -> None:
        """Sends the answers that waited."""
        waiting = self._waiting[link]
        while waiting and link.ready:
            answer = waiting.popleft()
            link.session.connection.held.free(len(answer))
            self._send(link, answer)
        link.exhausted()

    def settle(self, delivery: Delivery, state: Composite | None) -> None:
        """Answers are sent settled; there is nothing to do."""

    def detached(self, link: OutgoingLink) -> None:
        """The client listens no longer."""
        for answer in self._waiting.pop(link):
            link.session.connection.held.free(len(answer))

    def answer(self, request: Request, response: Response) -> None:
        """Sends an answer to where the request wants it, or has it wait for credit."""
        link = self._link_for(request)
        if link is None:
            return
        answer = single_message(
            properties=[None, None, None, None, None, request.message_id],
            application_properties=response.properties,
            value=response.value,
        )
        held = link.session.connection.held
        if link.ready and not self._waiting[link]:
            self._send(link, answer)
        elif held.full:
            link.refuse(too_much_held())
        else:
            self._waiting[link].append(answer)
            held.add(len(answer))

    def _send(self, link: OutgoingLink, answer: bytes) -> None:
        tag = next(self._tags) & SERIAL
        link.send(tag.to_bytes(4, "big"), answer, settled=True)

    def _link_for(self, request: Request) -> OutgoingLink | None:
        links = list(self._waiting)
        named = [link for link in links if link.target_address == request.reply_to]
        return next(iter(named or links), None)


def failure(error: AmqpError) -> tuple[int, str]:
    """The status and text for an error."""
    return _STATUSES.get(error.condition, 500), error.description


_STATUSES = {
    "amqp:unauthorized-access": 401,
    "amqp:not-found": 404,
    "com.microsoft:message-not-found": 404,
    "com.microsoft:entity-already-exists": 409,
    "com.microsoft:message-lock-lost": 410,
    "com.microsoft:session-lock-lost": 410,
    "com.microsoft:argument-error": 400,
    "com.microsoft:argument-out-of-range": 400,
    "amqp:invalid-field": 400,
    "com.microsoft:entity-disabled": 403,
    "amqp:resource-limit-exceeded": 403,
    "amqp:decode-error": 400,
    "amqp:not-allowed": 400,
    "amqp:not-implemented": 501,
    "com.microsoft:server-busy": 503,
    "com.microsoft:timeout": 408,
}
