"""A namespace's management, which shows a queue's properties over HTTP."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceRequestTimeoutError,
    ServiceResponseError,
    ServiceResponseTimeoutError,
)
from azure.identity.aio import DefaultAzureCredential
from azure.servicebus import parse_connection_string
from azure.servicebus.aio.management import ServiceBusAdministrationClient

from idempotent_consumer.doctor.facts import DeployedQueue
from idempotent_consumer.doctor.properties import FOREVER
from idempotent_consumer.servicebus.diagnosis import Diagnosis
from idempotent_consumer.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from azure.servicebus.management import QueueProperties

    from idempotent_consumer.settings import ServiceBusSettings

MANAGEMENT = "IDEMPOTENT_CONSUMER_MANAGEMENT"
"""The setting that says where an emulator has its management."""
EMULATOR_PORT = 5300

Value = TypeVar("Value")

_TUNING: dict[str, Any] = {"retry_total": 1, "connection_timeout": 5, "read_timeout": 10}


def management_address(settings: ServiceBusSettings, environment: Mapping[str, str]) -> str:
    """Where the namespace has its management.

    Raises:
        SettingsError: `MANAGEMENT` holds no address.
    """
    if settings.connection_string is None:
        return f"https://{settings.namespace}"
    given = environment.get(MANAGEMENT, "").strip().rstrip("/")
    if given and not _is_address(given):
        legal = f"{MANAGEMENT}=http://localhost:{EMULATOR_PORT}"
        raise SettingsError([f"{MANAGEMENT} is no http address; legal is, for example, {legal}"])
    return given or _beside(settings.connection_string)


async def show_queue(
    settings: ServiceBusSettings, address: str, queue: str
) -> DeployedQueue | Diagnosis:
    """The queue, or why it is not shown."""
    try:
        async with _client(settings, address) as client:
            return _deployed(await client.get_queue(queue))
    except Exception as error:  # noqa: BLE001  # whoever listens there may answer anything
        return Diagnosis(cause=_cause(error))


@asynccontextmanager
async def _client(
    settings: ServiceBusSettings, address: str
) -> AsyncIterator[ServiceBusAdministrationClient]:
    if settings.connection_string is None:
        identity = DefaultAzureCredential(managed_identity_client_id=settings.client_id)
        async with (
            identity,
            ServiceBusAdministrationClient(settings.namespace or "", identity, **_TUNING) as client,
        ):
            yield client
    else:
        client = ServiceBusAdministrationClient.from_connection_string(
            settings.connection_string, **_TUNING
        )
        # It knows https alone, at the port of https; Microsoft's samples for its emulator
        # do the same.
        client._impl._client._base_url = address
        async with client:
            yield client


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _beside(connection_string: str) -> str:
    """An emulator's own address for it, on the machine where the emulator is."""
    namespace = parse_connection_string(connection_string).fully_qualified_namespace
    host = urlsplit(f"//{namespace}").hostname or ""
    return f"http://[{host}]:{EMULATOR_PORT}" if ":" in host else f"http://{host}:{EMULATOR_PORT}"


def _deployed(queue: QueueProperties) -> DeployedQueue:
    lifetime = _given(queue.default_message_time_to_live, timedelta)
    window = _given(queue.duplicate_detection_history_time_window, timedelta)
    return DeployedQueue(
        lock=_given(queue.lock_duration, timedelta),
        max_deliveries=_given(queue.max_delivery_count, int),
        lifetime=None if lifetime.days >= FOREVER.days else lifetime,
        window=window if queue.requires_duplicate_detection else None,
        dead_letters_expired=bool(queue.dead_lettering_on_message_expiration),
        sessions=bool(queue.requires_session),
        partitioned=bool(queue.enable_partitioning),
    )


def _given(value: object, kind: type[Value]) -> Value:
    """The value; the SDK leaves out what the answer does."""
    if not isinstance(value, kind):
        raise TypeError
    return value


def _cause(error: Exception) -> str:
    match error:
        case ResourceNotFoundError():
            return "not found"
        case HttpResponseError(status_code=401 | 403):
            return "unauthorized"
        case ClientAuthenticationError():
            return "no credential"
        case HttpResponseError(status_code=int() as status):
            return f"status {status}"
        case ServiceRequestTimeoutError() | ServiceResponseTimeoutError() | TimeoutError():
            return "timeout"
        case ServiceRequestError() | ServiceResponseError() | OSError():
            return "unreachable"
        case _:
            return f"an answer that is no queue's ({type(error).__name__})"
