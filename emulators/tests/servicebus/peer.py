"""A client that speaks frames, for what Microsoft's client cannot be made to do."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.frames import (
    AMQP_HEADER,
    SASL_FRAME,
    SASL_HEADER,
    Frame,
    FrameReader,
    encode_frame,
)
from local_azure.servicebus.amqp.message import DATA, section
from local_azure.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Composite,
    Flow,
    Open,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
)
from local_azure.servicebus.amqp.types import Described, Symbol, UInt, ULong

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.servicebus import LocalServiceBus

_T = TypeVar("_T", bound=Composite)
KEY = b"\0RootManageSharedAccessKey\0SAS_KEY_VALUE"
PAYLOAD = section(DATA, encode(b"body"))


class Peer:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self._frames = FrameReader(1 << 20)

    def send(self, performative: Composite, payload: bytes = b"", kind: int = 0) -> None:
        self.writer.write(encode_frame(performative, payload=payload, kind=kind))

    async def header(self) -> bytes:
        while (header := self._frames.next_header()) is None:
            await self._more()
        return header

    async def frame(self) -> Frame:
        while (frame := self._frames.next_frame()) is None:
            await self._more()
        return frame

    async def expect(self, kind: type[_T]) -> _T:
        performative = (await self.frame()).performative
        assert isinstance(performative, kind), performative
        return performative

    async def _more(self) -> None:
        data = await asyncio.wait_for(self._reader.read(65536), 5)
        if not data:
            raise EOFError
        self._frames.feed(data)

    async def drained(self) -> None:
        """Reads until the server has nothing more to say."""
        while await self._reader.read(65536):
            pass

    async def authenticate(self, response: bytes = KEY, mechanism: str = "PLAIN") -> int:
        """SASL; returns the outcome's code."""
        self.writer.write(SASL_HEADER)
        assert await self.header() == SASL_HEADER
        await self.expect(SaslMechanisms)
        init = SaslInit(mechanism=Symbol(mechanism), initial_response=response)
        self.send(init, kind=SASL_FRAME)
        return int((await self.expect(SaslOutcome)).code)

    async def begin(self, *, window: int = 100, **limits: Any) -> Open:
        """Opens the connection and a session; returns what the server says of itself."""
        self.writer.write(AMQP_HEADER)
        assert await self.header() == AMQP_HEADER
        self.send(Open(container_id="peer", **limits))
        opened = await self.expect(Open)
        self.send(
            Begin(next_outgoing_id=UInt(0), incoming_window=UInt(window), outgoing_window=UInt(100))
        )
        await self.expect(Begin)
        return opened

    async def attach(self, *, receiver: bool, address: str = "orders", **more: Any) -> Attach:
        """Attaches handle 0 to a queue."""
        source, target = (
            Described(ULong(code), [address if is_here else "peer"])
            for code, is_here in ((0x28, receiver), (0x29, not receiver))
        )
        self.send(
            Attach(name="link", handle=UInt(0), role=receiver, source=source, target=target, **more)
        )
        return await self.expect(Attach)

    def flow(
        self,
        *,
        credit: int,
        drain: bool = False,
        count: int = 0,
        window: int = 100,
        received: int = 0,
        echo: bool = False,
    ) -> None:
        """Gives credit on handle 0."""
        self.send(
            Flow(
                next_incoming_id=UInt(received),
                incoming_window=UInt(window),
                next_outgoing_id=UInt(0),
                outgoing_window=UInt(100),
                handle=UInt(0),
                delivery_count=UInt(count),
                link_credit=UInt(credit),
                drain=drain,
                echo=echo,
            )
        )


@asynccontextmanager
async def connected(bus: LocalServiceBus) -> AsyncIterator[Peer]:
    """A connection on which nothing has been said yet."""
    address = bus.connection_string.split("//")[1].split(";")[0]
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield Peer(reader, writer)
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)
