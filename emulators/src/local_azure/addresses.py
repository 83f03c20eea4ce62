"""Addresses of listeners, for clients."""

from __future__ import annotations

from typing import Final

_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  (compared, not bound)


def address_of(host: str, port: int) -> str:
    """Host and port for clients on this machine, also where all addresses are listened on."""
    host = "localhost" if host in _EVERYWHERE else host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
