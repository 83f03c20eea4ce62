"""The one name that the tests of azure-cosmos import from this module."""

from __future__ import annotations


def is_live() -> bool:
    """Whether the tests talk to a service."""
    return True
