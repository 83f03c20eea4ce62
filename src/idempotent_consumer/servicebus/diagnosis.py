"""Why Service Bus cannot be used, and what would mend it: the one place that reads SDK errors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from azure.core.exceptions import ClientAuthenticationError
from azure.servicebus.exceptions import (
    MessageSizeExceededError,
    MessagingEntityDisabledError,
    MessagingEntityNotFoundError,
    OperationTimeoutError,
    ServiceBusAuthenticationError,
    ServiceBusAuthorizationError,
    ServiceBusCommunicationError,
    ServiceBusConnectionError,
    ServiceBusError,
    ServiceBusQuotaExceededError,
    ServiceBusServerBusyError,
)

if TYPE_CHECKING:
    from azure.servicebus.aio import ServiceBusClient


class Role(StrEnum):
    """The built-in role that an identity needs on a queue."""

    RECEIVER = "Azure Service Bus Data Receiver"
    SENDER = "Azure Service Bus Data Sender"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAddress:
    """Which queue is meant, and who asks.

    Attributes:
        namespace: Its host name, with the port where that is not AMQP's own.
        client_id: Of the identity in use, where one is configured.
    """

    namespace: str
    queue: str
    client_id: str | None = None

    @classmethod
    def of(cls, client: ServiceBusClient, queue: str, client_id: str | None = None) -> QueueAddress:
        """The address at which the client finds the queue."""
        return cls(namespace=client.fully_qualified_namespace, queue=queue, client_id=client_id)

    def __str__(self) -> str:
        return f"queue '{self.queue}' of {self.namespace}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Why an operation failed.

    Attributes:
        cause: A few fixed words: it becomes a metric's attribute.
        advice: What would mend it, for the log; empty where only waiting helps.
    """

    cause: str
    advice: str = ""


_CAUSES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((MessageSizeExceededError,), "too large"),
    ((MessagingEntityNotFoundError,), "not found"),
    ((MessagingEntityDisabledError,), "disabled"),
    ((ServiceBusAuthorizationError, ServiceBusAuthenticationError), "unauthorized"),
    ((ClientAuthenticationError,), "no credential"),
    ((ServiceBusQuotaExceededError,), "quota exceeded"),
    ((ServiceBusServerBusyError,), "busy"),
    ((OperationTimeoutError, TimeoutError), "timeout"),
    ((ServiceBusConnectionError, ServiceBusCommunicationError, OSError), "unreachable"),
)

_CONDITIONS: dict[object, str] = {b"amqp:not-allowed": "not allowed"}
"""Of AMQP, where the SDK has no error of its own."""

_ADVICE = {
    "not found": (
        "create the queue: az servicebus queue create --name {queue} --namespace-name {name} "
        "--resource-group <resource group> (with an emulator: add it to its Config.json)"
    ),
    "disabled": (
        "enable the queue: az servicebus queue update --name {queue} --namespace-name {name} "
        "--resource-group <resource group> --status Active"
    ),
    "unauthorized": (
        'grant the role: az role assignment create --role "{role}" --assignee {assignee} '
        '--scope "$(az resource list --name {name} --resource-type '
        'Microsoft.ServiceBus/namespaces --query [0].id --output tsv)/queues/{queue}"'
    ),
    "no credential": (
        "no identity gave a token: sign in with `az login`, or run where a managed identity is"
    ),
    "not allowed": (
        "{queue} is a topic, or a queue that requires sessions: name a queue that does not"
    ),
    "unreachable": (
        "check the name {namespace} and that its AMQP port (5671, an emulator's 5672) can be "
        "reached"
    ),
}


def diagnose(error: Exception, address: QueueAddress, role: Role) -> Diagnosis:
    """What an error of the SDK means; its text is not passed on.

    Args:
        role: What the operation needs.
    """
    cause = _cause(error)
    advice = _ADVICE.get(cause, "").format(
        queue=address.queue,
        namespace=address.namespace,
        name=address.namespace.partition(".")[0],
        role=role.value,
        assignee=address.client_id or "<principal id of the identity in use>",
    )
    return Diagnosis(cause=cause, advice=advice)


def _cause(error: Exception) -> str:
    named = (cause for kinds, cause in _CAUSES if isinstance(error, kinds))
    if cause := next(named, None):
        return cause
    # The SDK wraps what it does not expect, such as a credential's error.
    inner = error.inner_exception if isinstance(error, ServiceBusError) else None
    if isinstance(inner, Exception):
        return _cause(inner)
    return _CONDITIONS.get(getattr(error, "condition", None), type(error).__name__)
