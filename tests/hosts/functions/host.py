"""A Functions host for tests: one worker process, its functions, and the Settlement service.

What it does for a message is what the Service Bus extension does: while the function runs,
and no longer, its lock token can be settled; where the function fails, or the worker dies,
a message that is not settled is abandoned.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import grpc.aio

from tests.hosts.functions.protocol import Empty, rpc, rpc_services, settlement_services

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from tests.hosts.functions.message import HostMessage

ROOT = Path(__file__).parents[3]
CODE = (ROOT, ROOT / "src")
TRACE_PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
Context = grpc.aio.ServicerContext[Any, Any]


class WorkerDied(Exception):
    """The worker process ended while it was needed."""


class Refusal(Exception):
    """The answer to a settlement that is not made."""

    def __init__(self, code: grpc.StatusCode, details: str = "") -> None:
        super().__init__(code, details)
        self.code = code
        self.details = details


class Actions(Protocol):
    """Settles one message; raises `Refusal` where that fails."""

    async def complete(self) -> None: ...

    async def abandon(self) -> None: ...

    async def dead_letter(self, reason: str, description: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Invoked:
    """How an invocation ended, as the host's telemetry would show it."""

    succeeded: bool
    error: str = ""


@dataclass
class _Locked:
    """A message whose function is running."""

    actions: Actions
    settled: bool = False

    async def settle(self, settling: Awaitable[None]) -> None:
        await settling
        self.settled = True


@dataclass
class FunctionsHost:
    """A host that listens, and the worker that it has started."""

    environment: Mapping[str, str]
    app: Path = ROOT
    native: bool = False
    functions: list[Any] = field(default_factory=list)
    worker: asyncio.subprocess.Process | None = None
    log: list[str] = field(default_factory=list)
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _port: int = 0
    _server: grpc.aio.Server | None = None
    _locks: dict[str, _Locked] = field(default_factory=dict)
    _to_worker: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    _waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    async def listen(self) -> None:
        """Listens on a free port."""
        self._server = grpc.aio.server()
        rpc_services.add_FunctionRpcServicer_to_server(self, self._server)
        settlement_services.add_SettlementServicer_to_server(self, self._server)
        self._port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()

    async def hang_up(self) -> None:
        """Listens no more, and breaks off what is under way."""
        assert self._server
        await self._server.stop(grace=None)

    async def start_worker(self) -> None:
        """Starts a worker process and has it index the app.

        Raises:
            WorkerDied: It ended.
            RuntimeError: The app cannot be indexed; with the text that the host would show.
        """
        self._to_worker = asyncio.Queue()
        started = self._expect("start_stream")
        self.worker = await self._spawn()
        self._reading = asyncio.create_task(self._read_log(self.worker))
        self._watching = asyncio.create_task(self._watch(self.worker))
        await started
        await self._request(
            worker_init_request=rpc.WorkerInitRequest(
                host_version="4.1052.200", function_app_directory=str(self.app)
            )
        )
        listed = await self._request(functions_metadata_request=rpc.FunctionsMetadataRequest())
        self.functions = list(listed.function_metadata_results)
        for function in self.functions:
            await self._request(
                function_load_request=rpc.FunctionLoadRequest(
                    function_id=function.function_id, metadata=function
                )
            )
        self._ready.set()

    async def kill_worker(self) -> None:
        """Ends the worker process as the kernel would: at once."""
        assert self.worker
        with contextlib.suppress(ProcessLookupError):
            self.worker.kill()
        await asyncio.gather(self.worker.wait(), self._reading, self._watching)

    def bindings(self) -> list[dict[str, Any]]:
        """What the host would bind to, of all functions."""
        return [json.loads(raw) for function in self.functions for raw in function.raw_bindings]

    async def dispatch(self, message: HostMessage, actions: Actions) -> Invoked:
        """Runs the function on a message, and abandons that where the function fails.

        Waits for a worker where none is there.
        """
        locked = self._locks[message.lock_token] = _Locked(actions)
        try:
            invoked = await self._invoke(message)
        except WorkerDied as died:
            invoked = Invoked(succeeded=False, error=str(died))
        finally:
            del self._locks[message.lock_token]
        if not invoked.succeeded and not locked.settled:
            await actions.abandon()
        return invoked

    async def _invoke(self, message: HostMessage) -> Invoked:
        await self._ready.wait()
        (function,) = self.functions
        invocation = str(uuid4())
        response = await self._send(
            invocation,
            invocation_request=rpc.InvocationRequest(
                invocation_id=invocation,
                function_id=function.function_id,
                input_data=[message.input()],
                trigger_metadata=message.metadata(),
                trace_context=rpc.RpcTraceContext(trace_parent=TRACE_PARENT),
            ),
        )
        succeeded = response.result.status == rpc.StatusResult.Success
        return Invoked(succeeded=succeeded, error=response.result.exception.message)

    async def _request(self, **content: Any) -> Any:
        ((name, _),) = content.items()
        answer = {
            "worker_init_request": "worker_init_response",
            "functions_metadata_request": "function_metadata_response",
            "function_load_request": "function_load_response",
        }[name]
        response = await self._send(answer, **content)
        if response.result.status != rpc.StatusResult.Success:
            raise RuntimeError(response.result.exception.message)
        return response

    async def _send(self, answer: str, **content: Any) -> Any:
        expected = self._expect(answer)
        self._to_worker.put_nowait(rpc.StreamingMessage(request_id=str(uuid4()), **content))
        return await expected

    def _expect(self, name: str) -> asyncio.Future[Any]:
        """What the worker will say under this name, or on this invocation."""
        self._waiting[name] = asyncio.get_running_loop().create_future()
        return self._waiting[name]

    async def _spawn(self) -> asyncio.subprocess.Process:
        arguments = {
            "--host": "127.0.0.1",
            "--port": str(self._port),
            "--workerId": str(uuid4()),
            "--requestId": str(uuid4()),
            "--grpcMaxMessageLength": "2147483647",
            "--functions-uri": f"http://127.0.0.1:{self._port}/",
        }
        words = [word for pair in arguments.items() for word in pair]
        path = os.pathsep.join(map(str, (self.app, *CODE)))
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.hosts.functions.worker",
            *words,
            *(["--native"] if self.native else []),
            cwd=ROOT,
            env={**os.environ, **self.environment, "PYTHONPATH": path},
            stderr=asyncio.subprocess.PIPE,
        )

    async def _read_log(self, worker: asyncio.subprocess.Process) -> None:
        assert worker.stderr
        async for line in worker.stderr:
            self.log.append(line.decode(errors="replace").rstrip())

    async def _watch(self, worker: asyncio.subprocess.Process) -> None:
        code = await worker.wait()
        self._ready.clear()
        for expected in self._waiting.values():
            if not expected.done():
                expected.set_exception(WorkerDied(f"the worker exited with code {code}"))
        self._waiting.clear()

    async def EventStream(  # noqa: N802  # the contract's own name
        self, messages: AsyncIterator[Any], _: Context
    ) -> AsyncIterator[Any]:
        """Speaks with the worker: reads in a task of its own, and yields what is to be sent."""
        reading = asyncio.create_task(self._read(messages))
        to_worker = self._to_worker
        try:
            while True:
                yield await to_worker.get()
        finally:
            reading.cancel()

    async def _read(self, messages: AsyncIterator[Any]) -> None:
        async for message in messages:
            kind = message.WhichOneof("content")
            content = getattr(message, kind)
            name = content.invocation_id if kind == "invocation_response" else kind
            expected = self._waiting.pop(name, None)
            if expected and not expected.done():
                expected.set_result(content)

    async def Complete(self, request: Any, context: Context) -> Any:  # noqa: N802
        return await self._settle(request, context, lambda actions: actions.complete())

    async def Abandon(self, request: Any, context: Context) -> Any:  # noqa: N802
        return await self._settle(request, context, lambda actions: actions.abandon())

    async def Deadletter(self, request: Any, context: Context) -> Any:  # noqa: N802
        reason = request.deadletterReason.value
        description = request.deadletterErrorDescription.value
        return await self._settle(
            request, context, lambda actions: actions.dead_letter(reason, description)
        )

    async def _settle(
        self, request: Any, context: Context, settling: Callable[[Actions], Awaitable[None]]
    ) -> Any:
        token = request.locktoken
        if token not in self._locks:
            details = f"LockToken {token} not found"
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, details)
        locked = self._locks[token]
        try:
            await locked.settle(settling(locked.actions))
        except Refusal as refusal:
            await context.abort(refusal.code, refusal.details)
        return Empty()


@asynccontextmanager
async def functions_host(
    environment: Mapping[str, str], *, app: Path = ROOT, native: bool = False
) -> AsyncIterator[FunctionsHost]:
    """A host whose worker has indexed the app; leaving the context ends both."""
    host = FunctionsHost(environment, app=app, native=native)
    await host.listen()
    try:
        await host.start_worker()
        yield host
    finally:
        if host.worker:
            await host.kill_worker()
        await host.hang_up()
