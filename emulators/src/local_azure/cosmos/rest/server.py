"""The HTTP front: sockets, faults and the event log around the service."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, Self, assert_never

from aiohttp import web

from local_azure.clock import Clock
from local_azure.cosmos.errors import ordered_failure, unforeseen
from local_azure.cosmos.rest.call import activity_id_of
from local_azure.cosmos.rest.service import EMULATOR_KEY, Service, refusal
from local_azure.cosmos.rest.wire import MAX_REQUEST_BYTES, Request
from local_azure.cosmos.store.properties import ContainerProperties
from local_azure.events import Event, EventLog
from local_azure.faults import Delay, Drop, Fail, Faults, Hang, Lapse, Overtake
from local_azure.listening import listening, url_of

if TYPE_CHECKING:
    import ssl

    from local_azure.cosmos.rest.batch import Reported
    from local_azure.cosmos.rest.call import Call
    from local_azure.cosmos.rest.wire import Response
    from local_azure.cosmos.store.containers import ExpiredIds

_SECONDS_FOR_LAST_ANSWERS: Final = 0.2
"""How long a stop waits for requests under way."""

_MAX_HEADER_BYTES: Final = 64 * 1024
"""Of one header, or of the first line; escaped, a partition key takes six times its bytes."""

_LOG: Final = logging.getLogger(__name__)


class LocalCosmos:
    """An emulated Cosmos DB account that listens while the context is entered.

    Args:
        containers: What exists from the start: partition key paths by ``database/container``,
            or the containers' settings.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        tls: Whether to listen for https, with a certificate made for this run; needs the
            extra ``tls``. SDKs check no certificate of ``localhost`` and ``127.0.0.1``, but
            of every other address, and send tokens of Entra ID over https alone.
        clock: The time that ``_ts`` and expiry go by.
        faults: What goes wrong on order.
        events: Where each request is logged, under its operation's name.
        failed_batch_reports: The operation that a failed batch reports where several of
            them fail; the service does not say which.
        expired_ids: Whether a new document may take the id of one that has expired and is not
            purged yet; the service does not say.

    Attributes:
        clock: As given, or one that runs with the machine's.
        faults: As given, or none yet.
        events: As given, or an empty log.
        key: The account's master key.

    Raises:
        ValueError: A container cannot be created, or a fault given could never strike.
    """

    def __init__(  # noqa: PLR0913  (each is a setting of its own)
        self,
        containers: Mapping[str, str] | Iterable[ContainerProperties] = (),
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        clock: Clock | None = None,
        faults: Faults | None = None,
        events: EventLog | None = None,
        failed_batch_reports: Reported = "first",
        expired_ids: ExpiredIds = "free",
    ) -> None:
        self.clock = Clock() if clock is None else clock
        self.faults = Faults() if faults is None else faults
        self.events = EventLog() if events is None else events
        self.key = EMULATOR_KEY
        self._host = host
        self._port = port
        self._tls = tls
        self._service = Service(
            _settings(containers),
            now=self.clock.now,
            key=self.key,
            failed_batch_reports=failed_batch_reports,
            expired_ids=expired_ids,
            faults=self.faults,
        )
        self._listening = AsyncExitStack()
        self._waiting: set[asyncio.Future[web.StreamResponse]] = set()

    @property
    def endpoint(self) -> str:
        """The account's address."""
        return url_of(self._host, self._port, "https" if self._tls else "http")

    @property
    def connection_string(self) -> str:
        """Address and key, as ``CosmosClient.from_connection_string`` takes them."""
        return f"AccountEndpoint={self.endpoint};AccountKey={self.key};"

    def documents(self, container: str) -> list[dict[str, Any]]:
        """Copies of the documents in ``database/container`` that have not expired.

        Raises:
            KeyError: There is no such container.
        """
        database, _, name = container.partition("/")
        return [copy.deepcopy(found.document) for found in self._service.documents(database, name)]

    async def __aenter__(self) -> Self:
        """Starts to listen."""
        tls = await asyncio.to_thread(_tls_context, self._host) if self._tls else None
        server = web.Server(
            self._answer,
            handler_cancellation=True,
            access_log=None,
            auto_decompress=False,
            max_line_size=_MAX_HEADER_BYTES,
            max_field_size=_MAX_HEADER_BYTES,
        )
        runner = web.ServerRunner(server, shutdown_timeout=_SECONDS_FOR_LAST_ANSWERS)
        self._port = await self._listening.enter_async_context(
            listening(runner, self._host, self._port, tls)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stops to listen, gives up what hangs or is late, and closes every connection."""
        waiting = tuple(self._waiting)
        for each in waiting:
            each.cancel()
        await self._listening.aclose()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _answer(self, http: web.BaseRequest) -> web.StreamResponse:
        """Answers whatever happens; cancelled when the client leaves."""
        try:
            return await self._answered(http)
        except Exception:  # noqa: BLE001  (a bug, or a fault's condition that raises)
            activity_id = activity_id_of(http.headers)
            _LOG.exception("%s %s failed (activity %s)", http.method, http.raw_path, activity_id)
            return _written(refusal(unforeseen(), activity_id))

    async def _answered(self, http: web.BaseRequest) -> web.StreamResponse:
        call = self._service.read(await _received(http))
        action = self.faults.strike(call.operation)
        match action:
            case None | Lapse() | Overtake():  # these are about messages
                return self._performed(call)
            case Delay():
                late = asyncio.create_task(self._performed_late(call, action.seconds))
                return await asyncio.shield(self._kept(late))
            case Fail():
                return self._failed(call, action)
            case Drop():
                self._apply(call, action)
                self._log(call, "dropped")
                return _cut(http)
            case Hang():
                self._apply(call, action)
                self._log(call, "hung")
                return await self._kept(asyncio.get_running_loop().create_future())
            case _:
                assert_never(action)

    def _kept(
        self, waiting: asyncio.Future[web.StreamResponse]
    ) -> asyncio.Future[web.StreamResponse]:
        """Something that is waited for, to be given up when the emulator stops."""
        self._waiting.add(waiting)
        waiting.add_done_callback(self._waiting.discard)
        return waiting

    async def _performed_late(self, call: Call, seconds: float) -> web.StreamResponse:
        """Carries out an operation late, whether or not its client is still there."""
        await asyncio.sleep(seconds)
        return self._performed(call)

    def _performed(self, call: Call) -> web.Response:
        response = self._service.perform(call)
        self._log(call, str(response.status))
        return _written(response)

    def _failed(self, call: Call, fail: Fail) -> web.Response:
        self._apply(call, fail)
        error = ordered_failure(fail)
        self._log(call, str(error.status))
        return _written(self._service.refuse(call, error))

    def _apply(self, call: Call, action: Fail | Drop | Hang) -> None:
        if action.applied:
            self._service.perform(call)

    def _log(self, call: Call, detail: str) -> None:
        operation = call.operation
        event = Event(
            at=self.clock.now(),
            service="cosmos",
            name=operation.name,
            entity=operation.entity,
            key=operation.key,
            detail=detail,
        )
        self.events.add(event)


def _settings(
    containers: Mapping[str, str] | Iterable[ContainerProperties],
) -> Iterable[ContainerProperties]:
    if not isinstance(containers, Mapping):
        return containers
    return [_container(entity, path) for entity, path in containers.items()]


def _container(entity: str, path: str) -> ContainerProperties:
    database, _, name = entity.partition("/")
    return ContainerProperties(database=database, id=name, partition_key_paths=(path,))


def _tls_context(host: str) -> ssl.SSLContext:
    from local_azure.certificates import self_signed_context  # noqa: PLC0415  (needs the extra)

    return self_signed_context(host)


async def _received(http: web.BaseRequest) -> Request:
    return Request(
        method=http.method,
        path=http.raw_path.partition("?")[0],
        headers=http.headers,
        scheme=http.scheme,
        body=await _body(http),
    )


async def _body(http: web.BaseRequest) -> bytes:
    """Reads as much as it takes to see that a request is too large."""
    body = bytearray()
    async for chunk in http.content.iter_any():
        body += chunk
        if len(body) > MAX_REQUEST_BYTES:
            break
    return bytes(body)


def _written(response: Response) -> web.Response:
    return web.Response(status=response.status, headers=response.headers, body=response.body)


def _cut(http: web.BaseRequest) -> web.Response:
    """Closes the connection; the response that aiohttp wants can no longer be written."""
    if http.transport is not None:
        http.transport.close()
    return web.Response()
