"""What would be published: complete, no more than is needed, and quick to load."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from pathspec import GitIgnoreSpec
from uv import find_uv_bin

from tests.acceptance.shop import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PACKAGES = ".python_packages/lib/site-packages"
"""Where Core Tools and the remote build put what an app needs."""

PYTHONS = ["3.11", "3.12", "3.13"]

LOADED = {
    "aiohappyeyeballs", "aiohttp", "aiosignal", "annotated_types", "attr", "azure",
    "certifi", "charset_normalizer", "cryptography", "cython_runtime", "frozenlist", "function_app",
    "grpc", "idempotent_consumer", "idna", "markupsafe", "msal",
    "multidict", "opentelemetry", "propcache", "pydantic", "pydantic_core",
    "requests", "shop", "typing_extensions", "typing_inspection", "urllib3", "werkzeug", "yarl",
}  # fmt: skip
"""What a cold start may load, the standard library apart."""
AZURE = {"core", "cosmos", "functions", "identity"}
"""Likewise, of Azure's packages."""

SHOW_LOADED = """
import json, sys
import function_app
print(json.dumps([function.get_function_name() for function in function_app.app.get_functions()]))
print(json.dumps(sorted(sys.modules)))
"""


def published() -> list[str]:
    """The files that Core Tools would send."""
    ignored = GitIgnoreSpec.from_lines((ROOT / ".funcignore").read_text("utf-8").splitlines())
    return sorted(ignored.match_tree_files(ROOT, negate=True))


def pins() -> Iterator[Requirement]:
    for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield Requirement(line)


def applies(requirement: Requirement, python: str) -> bool:
    """Whether that Python needs it."""
    versions = {"python_version": python, "python_full_version": f"{python}.1"}
    return requirement.marker is None or requirement.marker.evaluate(versions)


def pinned(python: str) -> dict[str, str]:
    """The versions that one Python gets."""
    return {
        canonicalize_name(pin.name): str(pin.specifier) for pin in pins() if applies(pin, python)
    }


def assembled(folder: Path) -> Path:
    """The app as it would be published."""
    for name in published():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return folder


def loaded_by(python: str | Path, app: Path) -> tuple[list[str], list[str]]:
    """The functions of the app and the modules that it loads, in a process that has no more."""
    path = os.pathsep.join([str(app), str(app / PACKAGES)])
    shown = subprocess.run(  # noqa: S603  # our own program
        [python, "-S", "-c", SHOW_LOADED],
        cwd=app,
        env={**SETTINGS, "PATH": os.environ["PATH"], "PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    functions, modules = map(json.loads, shown.stdout.splitlines())
    return functions, modules


def test_what_is_published_is_the_code_and_nothing_else() -> None:
    files = [Path(name) for name in published()]
    top = {path.name for path in files if len(path.parts) == 1}
    assert top == {"function_app.py", "host.json", "requirements.txt"}
    assert {path.parts[:2] for path in files if len(path.parts) > 1} == {
        ("src", "idempotent_consumer"),
        ("src", "shop"),
    }
    assert {path.suffix for path in files if path.parts[0] == "src"} <= {".py", ".typed"}


def test_every_requirement_is_pinned_and_none_is_a_path() -> None:
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pins())
    assert all(pin.url is None for pin in pins())


@pytest.mark.parametrize("python", PYTHONS)
def test_each_python_gets_the_library_of_its_worker(python: str) -> None:
    versions = pinned(python)
    assert versions["azure-functions"].startswith("==2." if python == "3.13" else "==1.")
    assert versions.get("azure-functions-runtime") == ("==1.3.0" if python == "3.13" else None)


@pytest.mark.parametrize("python", PYTHONS)
def test_what_the_library_and_the_example_need_is_there(python: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [
        *project["dependencies"],
        *project["optional-dependencies"]["functions"],
        *project["optional-dependencies"]["telemetry"],
    ]
    needed += (ROOT / "requirements" / "functions.in").read_text("utf-8").splitlines()
    versions = pinned(python)
    for line in needed:
        if line and not line.startswith("#") and applies(wanted := Requirement(line), python):
            version = versions[canonicalize_name(wanted.name)].removeprefix("==")
            assert wanted.specifier.contains(version), line


def test_what_is_deployed_is_what_is_tested_up_to_the_patch() -> None:
    """Azure Monitor's packages hold back OpenTelemetry's, and are not among those of the tests."""
    lock = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
    tested = dict(re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE))
    for python in PYTHONS:
        for name, specifier in pinned(python).items():
            if name in tested and name != "azure-functions":  # one for each worker
                deployed = Version(specifier.removeprefix("=="))
                assert deployed.release[:2] == Version(tested[name]).release[:2], name


@pytest.mark.skipif(
    find_spec("azure_functions_runtime") is None, reason="downloads packages: make functions-test"
)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_published_app_loads_in_a_clean_environment(python: str, tmp_path: Path) -> None:
    executable, app = interpreter(python), assembled(tmp_path)
    subprocess.run(  # noqa: S603  # our own arguments
        [
            *(find_uv_bin(), "pip", "install", "--quiet", "--no-build", "--python", executable),
            *("--target", str(app / PACKAGES), "--requirement", str(app / "requirements.txt")),
        ],
        check=True,
    )
    functions, modules = loaded_by(executable, app)
    assert functions == ["order-processor"]
    check_loaded(modules)


def interpreter(python: str) -> str:
    """That Python on this machine; a bare command may be a version manager's shim."""
    name = f"python{python}"
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(
        f"versions/{python}.*/bin/{name}"
    )
    for candidate in map(str, (*managed, shutil.which(name) or name)):
        with suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([candidate, "--version"], check=True, capture_output=True)  # noqa: S603
            return candidate
    pytest.skip(f"there is no Python {python} on this machine")


def check_loaded(modules: list[str]) -> None:
    roots = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    assert {root for root in roots - LOADED if not root.startswith("_")} == set()
    azure = {name.split(".")[1] for name in modules if name.startswith("azure.")}
    assert azure == AZURE
