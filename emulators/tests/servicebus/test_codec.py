"""The typed codec: what is encoded comes back equal and of the same type; junk is refused."""

from __future__ import annotations

import math
import struct
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_azure.servicebus.amqp.decoding import MAX_DEPTH, decode, decode_at, map_entries, skip
from local_azure.servicebus.amqp.encoding import encode
from local_azure.servicebus.amqp.errors import AmqpError, DecodeError
from local_azure.servicebus.amqp.frames import Frame, FrameReader, encode_frame
from local_azure.servicebus.amqp.message import Sections, split
from local_azure.servicebus.amqp.performatives import Attach, Disposition, Rejected, Transfer
from local_azure.servicebus.amqp.types import (
    Array,
    Byte,
    Char,
    Decimal,
    Described,
    Float,
    Int,
    Long,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)


def _integers(kind: type[int], bits: int, *, signed: bool) -> st.SearchStrategy[object]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.integers(low, high).map(kind)


_ascii = st.text(st.characters(max_codepoint=127), max_size=300)
_scalars = [
    st.booleans(),
    _integers(UByte, 8, signed=False),
    _integers(UShort, 16, signed=False),
    _integers(UInt, 32, signed=False),
    _integers(ULong, 64, signed=False),
    _integers(Byte, 8, signed=True),
    _integers(Short, 16, signed=True),
    _integers(Int, 32, signed=True),
    _integers(Long, 64, signed=True),
    _integers(Timestamp, 64, signed=True),
    st.floats(allow_nan=False),
    st.floats(width=32, allow_nan=False).map(Float),
    st.uuids(),
    st.binary(max_size=300),
    st.text(max_size=300),
    _ascii.map(Symbol),
]
_unique = st.one_of(
    st.none(),
    st.characters(exclude_categories=["Cs"]).map(Char),
    st.sampled_from([4, 8, 16]).flatmap(lambda n: st.binary(min_size=n, max_size=n)).map(Decimal),
)
_arrays = st.one_of([st.lists(kind, min_size=1, max_size=4).map(Array) for kind in _scalars])
_values = st.recursive(
    st.one_of(_unique, _arrays, *_scalars),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.text(max_size=9), inner, max_size=5),
        st.builds(Described, st.builds(ULong, st.integers(0, 255)), inner),
    ),
    max_leaves=12,
)


def _typed(value: object) -> object:
    """The value with its types spelled out, since equality alone does not see them."""
    match value:
        case list():
            return type(value), [_typed(item) for item in value]
        case dict():
            return [(_typed(key), _typed(item)) for key, item in value.items()]
        case Described(descriptor, described):
            return Described, _typed(descriptor), _typed(described)
        case _:
            return type(value), value


@settings(deadline=None)
@given(_values)
def test_a_value_comes_back_equal_and_of_the_same_type(value: object) -> None:
    encoded = encode(value)
    assert _typed(decode(encoded)) == _typed(value)
    assert skip(encoded, 0) == len(encoded)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=9), _values, max_size=5))
def test_a_maps_entries_are_its_bytes_in_pieces(value: dict[str, object]) -> None:
    entries = map_entries(encode(value), 0)
    assert [key for key, _ in entries] == list(value)
    assert b"".join(raw for _, raw in entries) == b"".join(
        encode(key) + encode(item) for key, item in value.items()
    )


@settings(max_examples=2000, deadline=None)
@given(st.binary(max_size=64))
def test_random_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (decode, lambda raw: skip(raw, 0), lambda raw: map_entries(raw + b"\x00", 0)):
        try:
            read(data)
        except DecodeError:
            continue


@settings(max_examples=500, deadline=None)
@given(_values, st.data())
def test_damaged_values_are_read_or_refused(value: object, data: st.DataObject) -> None:
    damaged = bytearray(encode(value))
    at = data.draw(st.integers(0, len(damaged) - 1))
    damaged[at] = data.draw(st.integers(0, 255))
    try:
        decode(bytes(damaged))
    except DecodeError:
        return


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=64))
def test_random_bytes_are_a_message_or_refused(data: bytes) -> None:
    try:
        assert isinstance(split(data), Sections)
    except DecodeError:
        return


def test_nesting_is_bounded() -> None:
    deep = encode([])
    for _ in range(MAX_DEPTH - 1):
        deep = struct.pack(">BII", 0xD0, len(deep) + 4, 1) + deep
    decode(deep)
    deeper = struct.pack(">BII", 0xD0, len(deep) + 4, 1) + deep
    with pytest.raises(DecodeError, match="nested deeper"):
        decode(struct.pack(">BII", 0xD0, len(deeper) + 4, 1) + deeper)


@pytest.mark.parametrize(
    "bomb",
    [
        struct.pack(">BIIB", 0xF0, 5, 0xFFFFFFFF, 0x40),  # four billion nulls in five bytes
        struct.pack(">BII", 0xD0, 4, 0xFFFFFFFF),
        struct.pack(">BI", 0xB0, 0xFFFFFFFF),
        b"\x00" * 5000,
    ],
    ids=["array of nulls", "list", "binary", "descriptors"],
)
def test_small_input_cannot_ask_for_much_memory(bomb: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(bomb)


@pytest.mark.parametrize("value", [1, object(), {1: 2}, Array([UInt(1), "a"])])
def test_what_has_no_amqp_type_cannot_be_encoded(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_nan_and_infinity_are_doubles() -> None:
    decoded = decode(encode(math.nan))
    assert isinstance(decoded, float)
    assert math.isnan(decoded)
    assert decode(encode(math.inf)) == math.inf


def test_values_of_an_array_may_be_described_by_the_peer() -> None:
    raw = struct.pack(">BBB", 0xE0, 8, 2) + b"\x00\x53\x24\xa1" + b"\x01a" + b"\x00"
    value, end = decode_at(raw, 0)
    assert (value, end) == ([Described(ULong(0x24), "a"), Described(ULong(0x24), "")], len(raw))


def test_uuids_are_big_endian() -> None:
    token = UUID("00112233-4455-6677-8899-aabbccddeeff")
    assert encode(token) == b"\x98" + bytes.fromhex("00112233445566778899aabbccddeeff")


def _read(data: bytes) -> Frame | None:
    reader = FrameReader(512)
    reader.feed(data)
    return reader.next_frame()


def test_a_frame_comes_back_with_its_payload() -> None:
    transfer = Transfer(handle=UInt(1), delivery_id=UInt(2), delivery_tag=b"tag", more=True)
    assert _read(encode_frame(transfer, channel=3, payload=b"message")) == Frame(
        0, 3, transfer, b"message"
    )


def test_a_frame_is_read_only_once_it_is_whole() -> None:
    data = encode_frame(Disposition(role=True, first=UInt(1)))
    reader = FrameReader(512)
    for byte in data[:-1]:
        reader.feed(bytes([byte]))
        assert reader.next_frame() is None
    reader.feed(data[-1:])
    assert reader.next_frame() is not None


def test_fields_are_never_left_off_at_the_end() -> None:
    frame = _read(encode_frame(Disposition(role=True, first=UInt(1), state=Rejected())))
    assert frame is not None
    assert isinstance(frame.performative, Disposition)
    assert frame.performative.state == Described(ULong(0x25), [None])


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (["name"], "lacks a mandatory field"),
        (["name", "1", False], "handle is of the wrong type"),
        (["name", UInt(1), False, *[None] * 20], "is not a list of its fields"),
        ({"name": "name"}, "is not a list of its fields"),
    ],
)
def test_a_malformed_performative_is_refused(fields: object, why: str) -> None:
    body = encode(Described(ULong(Attach.CODE), fields))
    with pytest.raises(DecodeError, match=why):
        _read(struct.pack(">IBBH", 8 + len(body), 2, 0, 0) + body)


@pytest.mark.parametrize("head", [(513, 2), (7, 2), (16, 1), (16, 5)])
def test_a_frame_of_an_impossible_size_is_refused(head: tuple[int, int]) -> None:
    size, offset = head
    with pytest.raises(AmqpError, match="framing-error"):
        _read(struct.pack(">IBBH", size, offset, 0, 0) + bytes(8))
