"""Writes `infra/build`: what the Bicep compiler makes of the sources, so that it is tested without.

With ``--check`` nothing is written; the exit code is 1 if a file is stale. The compiler is
``$BICEP``, else the ``bicep`` on the path.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INFRA = Path(__file__).parent
BUILD = INFRA / "build"
SOURCES = ("*.bicep", "*.bicepparam", "bicepconfig.json", "contract.json", "workbook.json")
SOURCE_FOLDERS = ("modules", "kql")
ENVIRONMENTS = ("dev", "prod")
TEMPLATE = "main.json"
SNAPSHOTS = tuple(f"main.{name}.snapshot.json" for name in ENVIRONMENTS)
DIGESTS = "SOURCES.sha256"
FILES = (TEMPLATE, *SNAPSHOTS, DIGESTS)

# Of no one: a snapshot needs them, or each name and id stays an expression.
SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
RESOURCE_GROUP = "rg-orders"
LOCATION = "westeurope"
VARIABLES: Mapping[str, str] = {"ALERT_EMAILS": "you@example.com"}  # prod needs one


class BicepError(Exception):
    """The compiler found fault; the text is its own."""


def find_compiler() -> str | None:
    """The Bicep compiler of this machine."""
    return os.environ.get("BICEP") or shutil.which("bicep")


def run(
    compiler: str, *arguments: str | Path, variables: Mapping[str, str] = MappingProxyType({})
) -> str:
    """What the compiler printed.

    Args:
        variables: Added to the environment, which parameter files read.

    Raises:
        BicepError: It failed, or is none.
    """
    command = [compiler, *map(str, arguments)]
    try:
        ran = subprocess.run(  # noqa: S603 - our own arguments
            command, capture_output=True, text=True, check=False, env=os.environ | variables
        )
    except OSError as error:
        raise BicepError(f"{compiler} cannot be run: {error.strerror}") from None
    if ran.returncode:
        raise BicepError(ran.stdout + ran.stderr)
    return ran.stdout


def template(compiler: str, infra: Path = INFRA) -> dict[str, Any]:
    """The template that `main.bicep` is compiled to."""
    text = run(compiler, "build", "--no-restore", "--stdout", infra / "main.bicep")
    compiled: dict[str, Any] = json.loads(text)
    return compiled


def snapshot(
    compiler: str,
    parameters: Path,
    *,
    resource_group: str | None = RESOURCE_GROUP,
    variables: Mapping[str, str] = VARIABLES,
) -> dict[str, Any]:
    """The resources that a parameter file deploys, their values resolved.

    The compiler writes beside its sources, and evaluates what a build leaves alone: a guard
    that fails the deployment fails here.

    Args:
        resource_group: ``None`` for what is deployed to a subscription.
        variables: What the parameter file reads from the environment.
    """
    group = ("--resource-group", resource_group) if resource_group else ()
    where = ("--subscription-id", SUBSCRIPTION, *group, "--location", LOCATION)
    run(compiler, "snapshot", parameters, "--mode", "overwrite", *where, variables=variables)
    written = parameters.with_suffix(".snapshot.json")
    predicted: dict[str, Any] = json.loads(written.read_text("utf-8-sig"))
    written.unlink()
    predicted["outputs"] = dict(sorted(predicted["outputs"].items()))  # the compiler shuffles them
    return predicted


def source_files() -> list[Path]:
    """All that the build is made of."""
    own = (path for pattern in SOURCES for path in INFRA.glob(pattern))
    inner = (path for folder in SOURCE_FOLDERS for path in (INFRA / folder).iterdir())
    return sorted([*own, *inner])


def digests() -> str:
    """The sources' digests, in the format of sha256sum."""
    lines = (
        f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(INFRA).as_posix()}\n"
        for path in source_files()
    )
    return "".join(lines)


def built(compiler: str, name: str) -> str:
    """What a file of `infra/build` should hold."""
    if name == DIGESTS:
        return digests()
    with TemporaryDirectory() as folder:
        copy = copy_sources(Path(folder))
        document = (
            template(compiler, copy)
            if name == TEMPLATE
            else snapshot(compiler, copy / name.replace(".snapshot.json", ".bicepparam"))
        )
    return json.dumps(document, indent=2) + "\n"


def copy_sources(folder: Path) -> Path:
    """A copy of the sources, for a compiler that writes beside them."""
    for path in source_files():
        target = folder / path.relative_to(INFRA)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    return folder


def stale(compiler: str) -> dict[Path, str]:
    """The files that do not hold what they should, and what that is."""
    texts = {BUILD / name: built(compiler, name) for name in FILES}
    return {
        path: text
        for path, text in texts.items()
        if not path.is_file() or path.read_text("utf-8") != text
    }


def main(arguments: Sequence[str] | None = None) -> str | None:
    """Runs the command; the text says why it failed."""
    parser = ArgumentParser(description="Writes infra/build from the Bicep sources.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    check = parser.parse_args(arguments).check
    compiler = find_compiler()
    if compiler is None:
        return "no Bicep compiler: set BICEP to one, or put bicep on the path"
    try:
        outdated = stale(compiler)
    except BicepError as error:
        return str(error)
    if check:
        names = [path.name for path in outdated]
        return f"stale: {', '.join(names)}; run python infra/compile_bicep.py" if names else None
    for path, text in outdated.items():
        path.write_text(text, "utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
