"""``python -m shop demo``: the story of the example, played on this machine."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from shop.demo.command import run

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = ArgumentParser(prog="python -m shop", description="The example shop.")
    commands = parser.add_subparsers(metavar="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="play every kind of duplicate on emulators, and check what came of it",
        description="The exit code is 0 if everything came as it must, and 1 if it did not.",
    )
    demo.add_argument("--json", action="store_true", help="print one JSON object")
    return run(as_json=parser.parse_args(arguments).json)


if __name__ == "__main__":
    sys.exit(main())
