"""Patches: a few changes inside a document, under a condition that the service evaluates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, assert_never

from local_azure.cosmos.errors import CosmosError, bad_request
from local_azure.cosmos.sql.functions import finite
from local_azure.cosmos.sql.parser import parse_condition
from local_azure.cosmos.store.documents import SYSTEM_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local_azure.cosmos.sql.syntax import Select

MAX_OPERATIONS: Final = 10
_UNTOUCHABLE: Final = SYSTEM_PROPERTIES | {"id"}
_INDEX: Final = re.compile(r"0|[1-9]\d{0,8}")
_APPEND: Final = "-"

Kind = Literal["add", "set", "replace", "remove", "incr", "move"]
_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchOperation:
    """One change.

    Attributes:
        kind: What is done.
        path: Where, one name or index a level.
        value: What is written or added up.
        source: Where a moved value comes from.
    """

    kind: Kind
    path: _Path
    value: Any
    source: _Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Changes that take effect together, if the condition holds."""

    operations: Sequence[PatchOperation]
    condition: Select | None

    def apply(self, document: dict[str, Any]) -> None:
        """Changes the document in place; raises a `CosmosError` 400 half-way if it cannot."""
        for operation in self.operations:
            _apply(operation, document)


def read_patch(payload: object) -> Patch:
    """Reads a patch: a list of operations, or an object that holds it and the condition."""
    body = {"operations": payload} if isinstance(payload, list) else payload
    operations = body.get("operations") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(operations, list) or not operations:
        raise bad_request("Invalid request format: missing patch operations array.")
    if len(operations) > MAX_OPERATIONS:
        raise bad_request(
            f"The number of patch operations can't exceed '{MAX_OPERATIONS}'. "
            "Learn more: https://aka.ms/cosmosdbpatchdocs"
        )
    condition = body.get("condition")
    if condition is not None and not isinstance(condition, str):
        raise bad_request("The condition of a patch is a text.")
    return Patch(
        operations=[_operation(item) for item in operations],
        condition=parse_condition(condition) if condition else None,
    )


def _operation(item: object) -> PatchOperation:
    if not isinstance(item, dict):
        raise bad_request("A patch operation is a JSON object.")
    kind = _kind(item.get("op"))
    if "value" not in item and kind not in ("remove", "move"):
        raise bad_request(f"The patch operation '{kind}' needs a value.")
    source = _path(item.get("from"), "from") if kind == "move" else ()
    path = _path(item.get("path"), "path")
    if kind == "move" and path[: len(source)] == source:
        raise bad_request("A value cannot be moved into itself.")
    return PatchOperation(kind=kind, path=path, value=item.get("value"), source=source)


def _kind(name: object) -> Kind:
    match name.lower() if isinstance(name, str) else None:
        case "add" | "set" | "replace" | "remove" | "incr" | "move" as kind:
            return kind
        case "increment":
            return "incr"
        case _:
            raise bad_request("A patch operation has an unknown op.")


def _path(text: object, what: str) -> _Path:
    if not isinstance(text, str) or not text.startswith("/") or text == "/":
        raise bad_request(f"The {what} of a patch operation starts with '/' and names a property.")
    steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/"))
    if steps[0] in _UNTOUCHABLE:
        raise bad_request("A patch cannot change the id or a property that the service sets.")
    return steps


def _apply(operation: PatchOperation, document: dict[str, Any]) -> None:
    kind, path = operation.kind, operation.path
    match kind:
        case "add":
            _put(document, path, operation.value, inserts=True)
        case "set":
            _put(document, path, operation.value, inserts=False)
        case "replace":
            _taken_out(document, path, kind, removes=False)
            _put(document, path, operation.value, inserts=False)
        case "remove":
            _taken_out(document, path, kind)
        case "incr":
            _increment(document, operation)
        case "move":
            _put(document, path, _taken_out(document, operation.source, kind), inserts=True)
        case _:
            assert_never(kind)


def _put(document: dict[str, Any], path: _Path, value: Any, *, inserts: bool) -> None:
    """Writes a value; into an array it is inserted, or put in the place of the one there."""
    holder, name = _holder(document, path), path[-1]
    if isinstance(holder, dict):
        holder[name] = value
        return
    index = len(holder) if name == _APPEND else _index(name, len(holder))
    end = index if inserts else index + 1
    holder[index:end] = [value]


def _taken_out(document: dict[str, Any], path: _Path, kind: Kind, *, removes: bool = True) -> Any:
    """The value at a path that must be there."""
    holder, name = _holder(document, path), path[-1]
    key: Any = name if isinstance(holder, dict) else _index(name, len(holder) - 1)
    if isinstance(holder, dict) and name not in holder:
        raise bad_request(f"The patch operation '{kind}' needs a path that exists.")
    return holder.pop(key) if removes else holder[key]


def _increment(document: dict[str, Any], operation: PatchOperation) -> None:
    holder, name = _holder(document, operation.path), operation.path[-1]
    key: Any = name if isinstance(holder, dict) else _index(name, len(holder) - 1)
    before = holder.get(key, 0) if isinstance(holder, dict) else holder[key]
    if not _is_number(before) or not _is_number(operation.value):
        raise bad_request("The patch operation 'incr' adds a number to a number.")
    after = finite(float(before) + float(operation.value))
    if not _is_number(after):
        raise bad_request("The patch operation 'incr' leaves the range of numbers.")
    holder[key] = after


def _holder(document: dict[str, Any], path: _Path) -> dict[str, Any] | list[Any]:
    """The object or array that holds what the path names; it must be there already."""
    found: Any = document
    for name in path[:-1]:
        is_array = isinstance(found, list)
        found = found[_index(name, len(found) - 1)] if is_array else found.get(name)
        if not isinstance(found, dict | list):
            raise _no_such_path()
    return found  # type: ignore[no-any-return]  # JSON


def _index(name: str, highest: int) -> int:
    if _INDEX.fullmatch(name) is None or int(name) > highest:
        raise _no_such_path()
    return int(name)


def _no_such_path() -> CosmosError:
    return bad_request(
        "A patch operation can only create a child of an existing object or array, and reaches "
        "only elements that an array has. Learn more: https://aka.ms/cosmosdbpatchdocs"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
