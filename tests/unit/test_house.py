"""The house keeps its own rules: lock, wheel, layers and documents agree with one another."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import idempotent_consumer

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src" / "idempotent_consumer"
DOCUMENTS = sorted(ROOT.glob("*.md"))

# What the base must not load: it belongs to an extra, to development, or to the example.
NOT_IN_THE_BASE = {
    "azure.functions",
    "azure.monitor",
    "azure.servicebus",
    "grpc",
    "local_azure",
    "pydantic",
    "shop",
    "typer",
}


def project(folder: Path = ROOT) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def lock_entries() -> list[str]:
    """One line for each pinned requirement, its hashes included."""
    lock = (ROOT / "requirements" / "dev.txt").read_text().replace("\\\n", " ")
    return [line for line in lock.splitlines() if not line.startswith("#")]


def locked() -> dict[tuple[str, bool], Requirement]:
    """The pinned requirements by name, for before Python 3.13 and since."""
    pins = [Requirement(entry.partition(" --hash")[0]) for entry in lock_entries()]
    return {
        (canonicalize_name(pin.name), since_313): pin
        for pin in pins
        for since_313 in (False, True)
        if applies(pin, since_313=since_313)
    }


def applies(requirement: Requirement, *, since_313: bool) -> bool:
    version = "3.13" if since_313 else "3.12"
    python = {"python_version": version, "python_full_version": f"{version}.0"}
    return requirement.marker is None or requirement.marker.evaluate(python)


def required() -> list[Requirement]:
    """What the two distributions name in so many words."""
    library, emulators = project(), project(ROOT / "emulators")
    extras = library["project"]["optional-dependencies"]
    named = chain(
        library["build-system"]["requires"],
        library["project"]["dependencies"],
        *extras.values(),
        library["dependency-groups"]["dev"],
        emulators["build-system"]["requires"],
        emulators["project"]["dependencies"],
    )
    own = library["project"]["name"]
    wanted = {requirement for requirement in map(Requirement, named) if requirement.name != own}
    return sorted(wanted, key=str)


@pytest.mark.parametrize("wanted", required(), ids=str)
def test_the_lock_satisfies_each_direct_dependency(wanted: Requirement) -> None:
    for since_313 in (False, True):
        if applies(wanted, since_313=since_313):
            (pin,) = locked()[canonicalize_name(wanted.name), since_313].specifier
            assert pin.operator == "=="
            assert wanted.specifier.contains(pin.version, prereleases=True)


def test_each_entry_of_the_lock_has_a_hash() -> None:
    assert [entry for entry in lock_entries() if "--hash=sha256:" not in entry] == []


def test_the_lock_says_nothing_of_where_packages_come_from() -> None:
    assert [entry for entry in lock_entries() if "/" in entry or entry.startswith("-")] == []


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    """The library's wheel, built from a copy so that nothing left over can slip in."""
    copy = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src")
    subprocess.run(  # noqa: S603 - our own arguments
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(copy)],
        check=True,
        capture_output=True,
    )
    (path,) = copy.glob("dist/*.whl")
    return zipfile.Path(path)


def test_the_wheel_holds_the_library_alone(wheel: zipfile.Path) -> None:
    version = project()["project"]["version"]
    folders = {entry.name for entry in wheel.iterdir()}
    assert folders == {"idempotent_consumer", f"idempotent_consumer-{version}.dist-info"}


def test_the_wheel_is_typed(wheel: zipfile.Path) -> None:
    assert (wheel / "idempotent_consumer" / "py.typed").is_file()


def test_importing_the_library_loads_no_extra() -> None:
    program = "import sys, idempotent_consumer; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run(  # noqa: S603 - our own arguments
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert NOT_IN_THE_BASE.isdisjoint(loaded.stdout.split())


@pytest.mark.parametrize(("name", "extra"), [("Worker", "worker"), ("queue_trigger", "functions")])
def test_what_an_extra_brings_is_asked_for_by_its_name(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, idempotent_consumer._OF_EXTRAS[name][0], None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'idempotent-consumer\[{extra}\]'"):
        getattr(idempotent_consumer, name)


def imported_roots(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_the_core_needs_the_standard_library_only() -> None:
    modules = (LIBRARY / "core").rglob("*.py")
    roots = set(chain.from_iterable(map(imported_roots, modules)))
    assert roots - sys.stdlib_module_names == {"idempotent_consumer"}


def test_contributing_describes_each_layer_in_order() -> None:
    contracts = project()["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    described = re.findall(r"^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert described == re.findall(r"\w+", " ".join(layers))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_command_that_a_document_names_exists(document: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert targets.issuperset(
        re.findall(r"(?:`|^)make ([a-z-]+)", document.read_text(), re.MULTILINE)
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_relative_link_of_a_document_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_changelog_keeps_a_section_for_what_is_unreleased() -> None:
    first = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first
    assert first[1] == "[Unreleased]"
