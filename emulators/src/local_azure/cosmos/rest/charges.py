"""Request units, near the figures that the service documents for its default indexing policy."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

_KILOBYTE: Final = 1024
_WRITES: Final = ((1, 4.95), (2, 6.29), (4, 6.67), (16, 9.52), (64, 22.67), (2048, 566.26))
_READS: Final = ((1, 1.0), (100, 10.0), (2048, 187.1))

_FEED_BASE: Final = 1.8

METADATA_CHARGE: Final = 1.0
"""What reading or changing a database or container costs, and any refused operation."""


def write_charge(size: int) -> float:
    """Request units of writing or deleting a document of so many bytes."""
    return _interpolated(_WRITES, size)


def read_charge(size: int) -> float:
    """Request units of a point read of so many bytes."""
    return _interpolated(_READS, size)


def feed_charge(size: int) -> float:
    """Request units of a query or feed that answers with so many bytes."""
    return round(_FEED_BASE + read_charge(size), 2)


def _interpolated(points: tuple[tuple[int, float], ...], size: int) -> float:
    kilobytes = max(size / _KILOBYTE, points[0][0])
    for (left, low), (right, high) in pairwise(points):
        if kilobytes <= right:
            return round(low + (high - low) * (kilobytes - left) / (right - left), 2)
    return points[-1][1]
