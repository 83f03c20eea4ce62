"""Everything about the Functions host, nothing skipped: ``python -m tests.hosts.functions``.

The suite skips these tests where the worker library cannot be installed; here that is an
error. Needs Python 3.13 and downloads what the published app requires.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

NEEDED = ("azure_functions_runtime", "grpc_tools")


def main() -> int:
    """Runs the tests; the exit code is pytest's."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(f"{' and '.join(missing)} cannot be imported by {sys.executable}")
    return pytest.main(
        ["-q", "-n", "2", "--dist", "worksteal", "tests/unit/functions", "tests/hosts/functions"]
    )


if __name__ == "__main__":
    sys.exit(main())
