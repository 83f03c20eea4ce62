"""A worker process: stands where the platform's own stands, around the real library.

The platform's workers hand each message of the host to ``azure_functions_runtime``, whose
answer they send back. So does this one; it too receives in a thread and runs functions on
the event loop of the main thread. With ``--native`` it calls the entry that Python 3.15's
worker calls, and hides the command line, as an embedded interpreter does not have it.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sys
import threading
from argparse import ArgumentParser
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import grpc

from tests.hosts.functions.protocol import rpc, rpc_services

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

library: Any = import_module("azure_functions_runtime")
datums: Any = import_module("azure_functions_runtime.bindings.datumdef")
native: Any = import_module("azure_functions_runtime.native_invocation")


@dataclass
class Request:
    """What the library takes."""

    name: str
    request: Any
    properties: dict[str, Any]


class Worker:
    """Answers the host until the host hangs up."""

    def __init__(self, arguments: Namespace) -> None:
        self._arguments = arguments
        self._loop = asyncio.get_running_loop()
        self._outbox: queue.Queue[Any] = queue.Queue()
        self._running: set[asyncio.Task[None]] = set()
        self._hung_up = asyncio.Event()

    async def run(self) -> None:
        """Returns when the host has gone."""
        self._outbox.put(
            rpc.StreamingMessage(start_stream=rpc.StartStream(worker_id=self._arguments.workerId))
        )
        threading.Thread(target=self._receive, daemon=True).start()
        await self._hung_up.wait()

    def _receive(self) -> None:
        channel = grpc.insecure_channel(f"{self._arguments.host}:{self._arguments.port}")
        try:
            for message in rpc_services.FunctionRpcStub(channel).EventStream(self._sent()):
                self._loop.call_soon_threadsafe(self._begin, message)
        except grpc.RpcError:
            self._loop.call_soon_threadsafe(self._hung_up.set)

    def _sent(self) -> Iterator[Any]:
        while True:
            yield self._outbox.get()

    def _begin(self, message: Any) -> None:
        task = asyncio.create_task(self._answer(message))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answer(self, message: Any) -> None:
        kind = message.WhichOneof("content")
        properties = {"protos": rpc, "host": self._arguments.host}
        request = Request(name=kind, request=message, properties=properties)
        match kind:
            case "worker_init_request":
                library.start_threadpool_executor()
                answer = {"worker_init_response": await library.worker_init_request(request)}
            case "functions_metadata_request":
                response = await library.functions_metadata_request(request)
                answer = {"function_metadata_response": response}
            case "function_load_request":
                response = await library.function_load_request(request)
                answer = {"function_load_response": response}
            case "invocation_request":
                answer = {"invocation_response": await self._invoke(request)}
            case _:
                raise ValueError(f"the host says {kind}, which is not expected here")
        self._outbox.put(rpc.StreamingMessage(request_id=message.request_id, **answer))

    async def _invoke(self, request: Request) -> Any:
        if not self._arguments.native:
            return await library.invocation_request(request)
        asked = request.request.invocation_request
        succeeded, _, _, error, trace = await native.invocation_request_native(
            asked.invocation_id,
            asked.function_id,
            [(binding.name, _datum(binding.data)) for binding in asked.input_data],
            {name: _datum(data) for name, data in asked.trigger_metadata.items()},
            asked.trace_context.trace_parent,
            asked.trace_context.trace_state,
        )
        status = rpc.StatusResult.Success if succeeded else rpc.StatusResult.Failure
        failure = None if succeeded else rpc.RpcException(message=error, stack_trace=trace)
        return rpc.InvocationResponse(
            invocation_id=asked.invocation_id,
            result=rpc.StatusResult(status=status, exception=failure),
        )


def _datum(data: Any) -> Any:
    kind = data.WhichOneof("data")
    return datums.Datum(getattr(data, kind), kind) if kind else None


def _arguments() -> Namespace:
    """Those that a host gives, and ``--native``."""
    parser = ArgumentParser()
    for name in ("host", "port", "workerId", "requestId", "grpcMaxMessageLength", "functions-uri"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--native", action="store_true")
    return parser.parse_args()


async def main() -> None:
    """Runs the worker that the command line describes."""
    logging.basicConfig(level=logging.INFO)
    arguments = _arguments()
    if arguments.native:
        sys.argv, sys.orig_argv = [""], []
    await Worker(arguments).run()


if __name__ == "__main__":
    asyncio.run(main())
