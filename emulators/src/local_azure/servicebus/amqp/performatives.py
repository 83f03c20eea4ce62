"""The composite types of AMQP 1.0 that this side reads or writes: performatives and outcomes.

A field without a default is mandatory. Fields are always written in full: clients index into
short lists, so leaving off trailing nulls hangs or breaks some of them.
"""

from __future__ import annotations

import types
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.errors import AmqpError, DecodeError
from local_azure.servicebus.amqp.types import (
    Described,
    Symbol,
    UByte,
    UInt,
    ULong,
    UShort,
)


class Composite:
    """A described list with named fields."""

    __slots__ = ()
    CODE: ClassVar[int]


_C = TypeVar("_C", bound=Composite)


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the fields of a composite type are named, typed and defaulted."""

    kind: type[Composite]
    names: tuple[str, ...]
    accepted: tuple[tuple[type, ...], ...]


_SHAPES: dict[int, _Shape] = {}


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _composite(kind: type[_C]) -> type[_C]:
    made: type[_C] = dataclass(frozen=True, slots=True, kw_only=True)(kind)
    hints = get_type_hints(made)
    names = tuple(f.name for f in fields(made))  # type: ignore[arg-type]
    _SHAPES[made.CODE] = _Shape(made, names, tuple(_accepted(hints[name]) for name in names))
    return made


def _accepted(hint: object) -> tuple[type, ...]:
    options = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return tuple(get_origin(option) or option for option in options)


def decode_composite(value: object) -> Composite:
    """The composite that a described value is.

    Raises:
        AmqpError: It is none that this side knows, or a field is missing or of another type.
    """
    if not isinstance(value, Described) or not isinstance(value.descriptor, ULong):
        raise DecodeError("a described list is missing")
    shape = _SHAPES.get(value.descriptor)
    if shape is None:
        raise AmqpError("amqp:not-implemented", f"0x{value.descriptor:x} is not understood here")
    if not isinstance(value.value, list) or len(value.value) > len(shape.names):
        raise DecodeError(f"{shape.kind.__name__} is not a list of its fields")
    return _build(shape, value.value)


def _build(shape: _Shape, values: list[object]) -> Composite:
    given: dict[str, object] = {}
    for name, accepted, value in zip(shape.names, shape.accepted, values, strict=False):
        if value is None:
            continue
        if not isinstance(value, accepted):
            raise DecodeError(f"{shape.kind.__name__}.{name} is of the wrong type")
        given[name] = value
    try:
        return shape.kind(**given)
    except TypeError as error:
        raise DecodeError(f"{shape.kind.__name__} lacks a mandatory field") from error


def described(composite: Composite) -> Described:
    """The described list that a composite is on the wire."""
    names = _SHAPES[composite.CODE].names
    values = [getattr(composite, name) for name in names]
    return Described(
        ULong(composite.CODE),
        [described(value) if isinstance(value, Composite) else value for value in values],
    )


def encode_composite(composite: Composite) -> bytes:
    """The bytes of a composite."""
    return encode(described(composite))


@_composite
class Error(Composite):
    CODE = 0x1D
    condition: Symbol
    description: str | None = None
    info: dict[object, object] | None = None


@_composite
class Open(Composite):
    CODE = 0x10
    container_id: str
    hostname: str | None = None
    max_frame_size: UInt = UInt(0xFFFFFFFF)
    channel_max: UShort = UShort(0xFFFF)
    idle_time_out: UInt | None = None
    outgoing_locales: object = None
    incoming_locales: object = None
    offered_capabilities: object = None
    desired_capabilities: object = None
    properties: dict[object, object] | None = None


@_composite
class Begin(Composite):
    CODE = 0x11
    remote_channel: UShort | None = None
    next_outgoing_id: UInt
    incoming_window: UInt
    outgoing_window: UInt
    handle_max: UInt = UInt(0xFFFFFFFF)
    offered_capabilities: object = None
    desired_capabilities: object = None
    properties: dict[object, object] | None = None


@_composite
class Attach(Composite):
    CODE = 0x12
    name: str
    handle: UInt
    role: bool
    snd_settle_mode: UByte = UByte(2)
    rcv_settle_mode: UByte = UByte(0)
    source: Described | None = None
    target: Described | None = None
    unsettled: dict[object, object] | None = None
    incomplete_unsettled: bool = False
    initial_delivery_count: UInt | None = None
    max_message_size: ULong | None = None
    offered_capabilities: object = None
    desired_capabilities: object = None
    properties: dict[object, object] | None = None


@_composite
class Flow(Composite):
    CODE = 0x13
    next_incoming_id: UInt | None = None
    incoming_window: UInt
    next_outgoing_id: UInt
    outgoing_window: UInt
    handle: UInt | None = None
    delivery_count: UInt | None = None
    link_credit: UInt | None = None
    available: UInt | None = None
    drain: bool = False
    echo: bool = False
    properties: dict[object, object] | None = None


@_composite
class Transfer(Composite):
    CODE = 0x14
    handle: UInt
    delivery_id: UInt | None = None
    delivery_tag: bytes | None = None
    message_format: UInt | None = None
    settled: bool | None = None
    more: bool = False
    rcv_settle_mode: UByte | None = None
    state: Described | None = None
    resume: bool = False
    aborted: bool = False
    batchable: bool = False


@_composite
class Disposition(Composite):
    CODE = 0x15
    role: bool
    first: UInt
    last: UInt | None = None
    settled: bool = False
    state: Described | Composite | None = None
    batchable: bool = False


@_composite
class Detach(Composite):
    CODE = 0x16
    handle: UInt
    closed: bool = False
    error: Described | Error | None = None


@_composite
class End(Composite):
    CODE = 0x17
    error: Described | Error | None = None


@_composite
class Close(Composite):
    CODE = 0x18
    error: Described | Error | None = None


@_composite
class Received(Composite):
    CODE = 0x23
    section_number: UInt
    section_offset: ULong


@_composite
class Accepted(Composite):
    CODE = 0x24


@_composite
class Rejected(Composite):
    CODE = 0x25
    error: Described | Error | None = None


@_composite
class Released(Composite):
    CODE = 0x26


@_composite
class Modified(Composite):
    CODE = 0x27
    delivery_failed: bool = False
    undeliverable_here: bool = False
    message_annotations: dict[object, object] | None = None


@_composite
class SaslMechanisms(Composite):
    CODE = 0x40
    sasl_server_mechanisms: object


@_composite
class SaslInit(Composite):
    CODE = 0x41
    mechanism: Symbol
    initial_response: bytes | None = None
    hostname: str | None = None


@_composite
class SaslOutcome(Composite):
    CODE = 0x44
    code: UByte
    additional_data: bytes | None = None
