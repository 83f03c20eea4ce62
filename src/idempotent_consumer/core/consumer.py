"""`Consumer`: what a user declares, and how a delivery becomes a request and a plan."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from idempotent_consumer.core.delivery import Message
from idempotent_consumer.core.entity import Entity
from idempotent_consumer.core.keys import Key, MessageId, key_of
from idempotent_consumer.core.payload import read_payload
from idempotent_consumer.core.plan import RefusedPlan
from idempotent_consumer.core.pointers import Pointer
from idempotent_consumer.core.reasons import Reason, Rejected
from idempotent_consumer.core.request import Request
from idempotent_consumer.core.request_hash import Selection

if TYPE_CHECKING:
    from types import UnionType

    from idempotent_consumer.core.delivery import Delivery, JsonObject
    from idempotent_consumer.core.marker import Marker
    from idempotent_consumer.core.payload import Payload
    from idempotent_consumer.core.plan import Plan
    from idempotent_consumer.core.writes import Writes

Body = TypeVar("Body")
Decoder = Callable[["JsonObject"], Body]
Handler = Callable[[Body, Message], "Writes"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Container:
    """A Cosmos DB container.

    Args:
        path: ``database/container``.
        partition_path: Its partition key path, such as ``/orderId``.

    Raises:
        ValueError: Either is written otherwise.
    """

    path: str
    partition_path: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^/]+/[^/]+", self.path):
            raise ValueError(f"write the container like 'shop/orders', not {self.path!r}")
        Pointer(self.partition_path)

    @property
    def database(self) -> str:
        """The database's name."""
        return self.path.split("/")[0]

    @property
    def name(self) -> str:
        """The container's name."""
        return self.path.split("/")[1]


class Consumer:
    """Handles the messages of one entity, each of them once.

    Name, container, key and marker *are* the consumer's identity: with one of them changed
    it is another consumer, to which no message is known.

    Args:
        name: Stands in every marker; follows no host and no module.
        container: Where its documents live.
        marker: What records that a message was applied.
        key: Where the key of a message stands.
        hashed: What of a message the request hash covers.
        rejects: Exceptions of decoders that reject the message, besides `ValueError`.
        connection: The setting that holds the Cosmos DB connection.

    Raises:
        ValueError: The name is none.
        TypeError: ``container``, ``marker``, ``key`` or ``hashed`` is something else.
    """

    def __init__(
        self,
        name: str,
        container: Container,
        *,
        marker: Entity,
        key: Key = MessageId(),  # noqa: B008  # frozen
        hashed: Selection = Selection(),  # noqa: B008  # frozen
        rejects: Sequence[type[Exception]] = (),
        connection: str = "Cosmos",
    ) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no consumer name: letters, digits, '.', '_' and '-'")
        _check("container", container, Container, "Container('shop/orders', '/orderId')")
        _check("marker", marker, Entity, "Entity()")
        _check(
            "key",
            key,
            Key,
            "MessageId(), Property('orderId'), BodyField('/orderId') or CloudEvent()",
        )
        _check("hashed", hashed, Selection, "Selection(without=['/sentAt'])")
        self.name = name
        self.container = container
        self.marker = marker
        self.connection = connection
        self._key = key
        self._hashed = hashed
        self._rejects: tuple[type[Exception], ...] = (ValueError, *rejects)
        self._handlers: dict[str | None, tuple[Decoder[Any], Handler[Any]]] = {}

    def handler(
        self,
        decoder: Decoder[Body],
        *,
        type: str | None = None,  # noqa: A002  # what the message calls it
    ) -> Callable[[Handler[Body]], Handler[Body]]:
        """Registers the decorated function for the messages of one type.

        Args:
            decoder: Makes of the parsed body what the handler takes; rejects the message
                by raising `Rejected` or `ValueError`.
            type: The Subject of the messages, or the type of the CloudEvents; left out, the
                handler takes all types that no other handler takes.

        Raises:
            ValueError: The type has a handler already.
            TypeError: The function is none that handles a message.
        """

        def register(handle: Handler[Body]) -> Handler[Body]:
            _check_handler(handle)
            if type in self._handlers:
                raise ValueError(f"{self.name} has a handler for {type or 'all types'} already")
            self._handlers[type] = (decoder, handle)
            return handle

        return register

    def check(self) -> None:
        """Refuses, before any message is taken, what could handle none.

        Raises:
            ValueError: There is no handler.
        """
        if not self._handlers:
            raise ValueError(
                f"{self.name} has no handler: decorate a function with its handler(decoder)"
            )

    def read(self, delivery: Delivery) -> Request:
        """What the delivery asks.

        Raises:
            Rejected: It cannot be read or keyed.
        """
        payload = read_payload(delivery)
        key = key_of(self._key, delivery, payload)
        content = self._hashed.content(payload)
        if payload.body and content.is_empty:
            raise Rejected(
                "the request hash covers nothing of the body", reason=Reason.MALFORMED_BODY
            )
        return Request(
            consumer=self.name,
            key=key,
            place=self.marker.place(key),
            delivery=delivery,
            message=_message(key, delivery, payload),
            payload=payload,
            selection=self._hashed,
            content=content,
            digest=content.digest(),
        )

    def plan(self, request: Request, marker: Marker, retention: int | None) -> Plan:
        """What the message writes, by its handler.

        Raises:
            Rejected: The decoder, the handler or a limit rejects the message.
            RefusedPlan: The handler returned no plan.
            Exception: Whatever else the handler raises.
        """
        writes = self._handle(request)
        if isinstance(writes, str) or not isinstance(writes, Sequence):
            raise RefusedPlan(
                f"the handler returned {type(writes).__name__}, no sequence of writes"
            )
        return self.marker.plan(
            writes,
            key=request.key,
            marker=marker,
            partition_path=self.container.partition_path,
            retention=retention,
        )

    def _handle(self, request: Request) -> Writes:
        found = self._handlers.get(request.message.type) or self._handlers.get(None)
        if found is None:
            raise Rejected("no handler for the Subject", reason=Reason.UNKNOWN_MESSAGE_TYPE)
        decoder, handle = found
        return handle(self._decode(decoder, request), request.message)

    def _decode(self, decoder: Decoder[Body], request: Request) -> Body:
        try:
            return decoder(deepcopy(request.payload.body))
        except self._rejects as error:
            raise Rejected(
                f"the decoder refused the body ({type(error).__name__})",
                reason=Reason.MALFORMED_BODY,
            ) from None


def _check_handler(handle: Callable[..., object]) -> None:
    """What every message would meet is refused once, where it is written."""
    if inspect.iscoroutinefunction(handle) or inspect.isgeneratorfunction(handle):
        raise TypeError(
            f"{handle.__name__} is asynchronous or a generator: a handler is a plain function "
            "that returns its writes and does no I/O"
        )
    try:
        inspect.signature(handle).bind("body", "message")
    except TypeError:
        raise TypeError("a handler takes the decoded body and the message") from None


def _check(name: str, value: object, kind: type | UnionType, legal: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name}={value!r}: write {legal}")


def _message(key: str, delivery: Delivery, payload: Payload) -> Message:
    return Message(
        key=key,
        message_id=delivery.message_id,
        type=payload.type,
        correlation_id=delivery.correlation_id,
        session_id=delivery.session_id,
        enqueued_time=delivery.enqueued_time,
        properties=payload.properties,
    )
