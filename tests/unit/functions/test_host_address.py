"""The host's address is found wherever a worker process may have it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from idempotent_consumer.functions import host_address
from idempotent_consumer.functions.host_address import find_host_address

if TYPE_CHECKING:
    from pathlib import Path

OLD = ["worker.py", "--host", "127.0.0.1", "--port", "4711", "--workerId", "w"]
NEW = ["worker", "--functions-uri", "http://127.0.0.1:4711/", "--functions-worker-id", "w"]
NONE = ["worker", "--host", "127.0.0.1", "--port"]


def started(
    monkeypatch: pytest.MonkeyPatch, argv: list[str], orig_argv: list[str], cmdline: Path
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    monkeypatch.setattr(host_address, "COMMAND_LINE", cmdline)


@pytest.mark.parametrize("arguments", [OLD, NEW, [*OLD, *NEW[1:]]])
@pytest.mark.parametrize("place", ["argv", "orig_argv", "cmdline"])
def test_it_is_found(
    place: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cmdline = tmp_path / "cmdline"
    cmdline.write_bytes("\0".join(arguments).encode() if place == "cmdline" else b"")
    places = {"argv": [""], "orig_argv": [], place: arguments}
    started(monkeypatch, places["argv"], places["orig_argv"], cmdline)
    assert find_host_address() == "127.0.0.1:4711"


def test_a_process_without_a_host_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    started(monkeypatch, NONE, [], tmp_path / "there is no /proc")
    assert find_host_address() is None
