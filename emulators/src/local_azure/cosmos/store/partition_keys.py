"""Partition key values: in the request header, in a document, and what makes two the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import (
    bad_request,
    partition_key_misshapen,
    partition_key_required,
)
from local_azure.cosmos.store.paths import steps_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local_azure.cosmos.store.properties import ContainerProperties

MAX_VALUE_BYTES: Final = 2048
_HASHED_BY_VERSION_1: Final = 101
_STRUCTURE: Final = "structure"


@dataclass(frozen=True, slots=True)
class Component:
    """One value, together with its JSON type: ``1`` and ``true`` are not the same."""

    kind: str
    value: str | float | bool | None = None


UNDEFINED: Final = Component("undefined")
"""The value of a path that a document does not have."""

PartitionKey = tuple[Component, ...]


def partition_key_of_header(header: str | None, container: ContainerProperties) -> PartitionKey:
    """The partition that a request names."""
    if header is None:
        raise partition_key_required()
    values = strict_json.decode(header)
    if not isinstance(values, list) or len(values) != len(container.partition_key_paths):
        raise partition_key_misshapen()
    key = tuple(UNDEFINED if value == {} else _component(value) for value in values)
    if any(component.kind == _STRUCTURE for component in key):
        raise partition_key_misshapen()
    if container.hash_version == 2 and sum(map(_size, key)) > MAX_VALUE_BYTES:
        raise bad_request(f"The partition key value is longer than {MAX_VALUE_BYTES} bytes.")
    return key


def partition_key_of_document(
    document: Mapping[str, Any], container: ContainerProperties
) -> PartitionKey:
    """The partition that a document belongs to; an object or a list counts as no value."""
    values = (value_at(document, path) for path in container.partition_key_paths)
    return tuple(UNDEFINED if value.kind == _STRUCTURE else value for value in values)


def partition_of(key: PartitionKey, container: ContainerProperties) -> PartitionKey:
    """The partition's identity: under hash version 1, long strings that start alike are one."""
    return key if container.hash_version == 2 else tuple(map(_shortened, key))


def value_at(document: Mapping[str, Any], path: str) -> Component:
    """The value at a path; an object or a list stands for itself."""
    value: Any = document
    for name in steps_of(path):
        if not isinstance(value, dict) or name not in value:
            return UNDEFINED
        value = value[name]
    return _component(value)


def _component(value: Any) -> Component:
    match value:
        case None:
            return Component("null")
        case bool():
            return Component("boolean", value)
        case int() | float():
            return Component("number", value)
        case str():
            return Component("string", value)
        case _:
            return Component(_STRUCTURE, strict_json.encode(value).decode())


def _size(component: Component) -> int:
    return len(utf8(component.value)) if isinstance(component.value, str) else 0


def _shortened(component: Component) -> Component:
    if not isinstance(component.value, str):
        return component
    return Component("string", utf8(component.value)[:_HASHED_BY_VERSION_1].decode("latin-1"))


def utf8(text: str) -> bytes:
    """The text as it is hashed and measured; half a surrogate pair is taken as it is."""
    return text.encode(errors="surrogatepass")
