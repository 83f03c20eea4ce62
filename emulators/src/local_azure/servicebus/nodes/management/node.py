"""The node itself: finds what a request asks for, has it done and answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from local_azure.faults import Operation
from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.amqp.types import Int, Symbol
from local_azure.servicebus.broker.intake import Intake
from local_azure.servicebus.broker.queue import Queue
from local_azure.servicebus.broker.session_queue import SessionQueue
from local_azure.servicebus.broker.topic import Subscription
from local_azure.servicebus.nodes.exchange import Exchange, Request, Response, failure
from local_azure.servicebus.nodes.management import messages, rules, sessions
from local_azure.servicebus.nodes.management.plan import Asked, Plan
from local_azure.servicebus.nodes.sessions import SessionSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_azure.servicebus.broker.entities import Entities
    from local_azure.servicebus.broker.session_queue import SessionLock
    from local_azure.servicebus.nodes.content import WireContent
    from local_azure.servicebus.nodes.gate import Gate
    from local_azure.servicebus.nodes.management.body import Body
    from local_azure.servicebus.nodes.queues import QueueSource

_PREFIX = "com.microsoft:"
_LINK = "associated-link-name"

_OPERATIONS: dict[str, tuple[type, Callable[[Asked[Any]], Plan]]] = {
    "renew-lock": (Queue, messages.renew_lock),
    "update-disposition": (Queue, messages.update_disposition),
    "receive-by-sequence-number": (Queue, messages.receive_by_sequence_number),
    "peek-message": (Intake, messages.peek_message),
    "schedule-message": (Intake, messages.schedule_message),
    "cancel-scheduled-message": (Intake, messages.cancel_scheduled_message),
    "renew-session-lock": (SessionQueue, sessions.renew_session_lock),
    "get-session-state": (SessionQueue, sessions.get_session_state),
    "set-session-state": (SessionQueue, sessions.set_session_state),
    "get-message-sessions": (SessionQueue, sessions.get_message_sessions),
    "add-rule": (Subscription, rules.add_rule),
    "remove-rule": (Subscription, rules.remove_rule),
    "enumerate-rules": (Subscription, rules.enumerate_rules),
}
"""Each operation, and the kind of entity that knows it."""

OPERATIONS = frozenset({"renew", *_OPERATIONS} - {"renew-lock", "update-disposition"})
"""The operations as faults name them; a disposition has the name of what it does."""


class Management:
    """Answers the requests about an entity."""

    def __init__(
        self,
        entity: Intake[WireContent],
        source: QueueSource | None,
        entities: Entities[WireContent],
        gate: Gate,
    ) -> None:
        self._entity = entity
        self._source = source
        self._entities = entities
        self._gate = gate

    def respond(self, request: Request, exchange: Exchange) -> None:
        """Carries a request out and answers it."""
        try:
            plan = self._plan(request)
        except AmqpError as error:
            exchange.answer(request, _response(error))
            return
        key, *others = plan.keys
        self._gate.perform(
            Operation(name=plan.operation, entity=self._entity.name, key=key, others=tuple(others)),
            request.session.connection,
            plan.effect,
            lambda result: exchange.answer(request, _response(result)),
            plan.twists,
        )

    def _plan(self, request: Request) -> Plan:
        name = str(request.properties.get("operation")).removeprefix(_PREFIX)
        if name not in _OPERATIONS:
            raise AmqpError("amqp:not-implemented", f"There is no operation {name!r}.")
        kind, plan = _OPERATIONS[name]
        subject = self._subject(kind)
        if not isinstance(subject, kind):
            raise AmqpError("amqp:not-allowed", f"'{self._entity.name}' does not do {name}.")
        body = request.value if isinstance(request.value, dict) else {}
        return plan(
            Asked(
                operation=name,
                entity=subject,
                body=body,
                clock=self._gate.clock,
                connection=request.session.connection,
                session_lock=partial(self._session_lock, request),
            )
        )

    def _session_lock(self, request: Request, session_id: str) -> SessionLock:
        """The lock that the receiver has whose the request is, or any on its connection."""
        if not isinstance(self._source, SessionSource):
            raise AmqpError("amqp:not-allowed", f"'{self._entity.name}' has no sessions.")
        link = request.properties.get(_LINK)
        name = link if isinstance(link, str) and link else None
        return self._source.lock_of(request.session.connection, name, session_id)

    def _subject(self, kind: type) -> object:
        if kind is Subscription:
            return self._entities.subscription_of(self._entity)
        return self._entity


def _response(result: Body | AmqpError | None) -> Response:
    match result:
        case AmqpError():
            status, text = failure(result)
            condition = {"errorCondition": Symbol(result.condition)}
            return Response(properties=_status(status, text) | condition)
        case None:
            return Response(properties=_status(204, "No content"))
        case _:
            return Response(properties=_status(200, "OK"), value=result)


def _status(code: int, text: str) -> dict[str, object]:
    return {"statusCode": Int(code), "statusDescription": text}
