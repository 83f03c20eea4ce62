"""Errors of the SDK become causes and advice."""

from __future__ import annotations

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.servicebus._pyamqp.error import AMQPLinkError
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

from idempotent_consumer.servicebus.diagnosis import QueueAddress, Role, diagnose

SHOP = QueueAddress(namespace="shop.servicebus.windows.net", queue="orders")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (MessageSizeExceededError(), "too large"),
        (MessagingEntityNotFoundError(), "not found"),
        (MessagingEntityDisabledError(), "disabled"),
        (ServiceBusAuthorizationError(), "unauthorized"),
        (ServiceBusAuthenticationError(), "unauthorized"),
        (ServiceBusError("Handler failed", error=ClientAuthenticationError()), "no credential"),
        (ServiceBusQuotaExceededError(), "quota exceeded"),
        (ServiceBusServerBusyError(), "busy"),
        (OperationTimeoutError(), "timeout"),
        (TimeoutError(), "timeout"),
        (ServiceBusConnectionError(), "unreachable"),
        (ServiceBusCommunicationError(), "unreachable"),
        (ConnectionRefusedError(), "unreachable"),
        (ServiceBusError("anything else"), "ServiceBusError"),
        (ServiceBusError("Handler failed", error=KeyError("secret")), "KeyError"),
        (ServiceBusError("x", error=AMQPLinkError(condition=b"amqp:not-allowed")), "not allowed"),
    ],
)
def test_each_error_has_a_cause(error: Exception, cause: str) -> None:
    assert diagnose(error, SHOP, Role.RECEIVER).cause == cause


def test_a_missing_role_is_advised_with_the_command_that_grants_it() -> None:
    address = QueueAddress(
        namespace="shop.servicebus.windows.net",
        queue="orders",
        client_id="11111111-2222-3333-4444-555555555555",
    )
    assert diagnose(ServiceBusAuthorizationError(), address, Role.RECEIVER).advice == (
        'grant the role: az role assignment create --role "Azure Service Bus Data Receiver" '
        "--assignee 11111111-2222-3333-4444-555555555555 "
        '--scope "$(az resource list --name shop --resource-type Microsoft.ServiceBus/namespaces '
        '--query [0].id --output tsv)/queues/orders"'
    )


def test_whose_identity_is_unknown_is_left_to_fill_in() -> None:
    advice = diagnose(ServiceBusAuthorizationError(), SHOP, Role.SENDER).advice
    assert "Azure Service Bus Data Sender" in advice
    assert "--assignee <principal id of the identity in use>" in advice


def test_a_missing_queue_is_advised_with_the_command_that_creates_it() -> None:
    advice = diagnose(MessagingEntityNotFoundError(), SHOP, Role.RECEIVER).advice
    assert "az servicebus queue create --name orders --namespace-name shop" in advice


def test_the_text_of_an_error_is_not_passed_on() -> None:
    diagnosis = diagnose(ServiceBusError("card 4111"), SHOP, Role.RECEIVER)
    assert "4111" not in f"{diagnosis}"
