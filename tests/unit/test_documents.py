"""What README and docs say is so: their code runs, their links and names lead somewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from idempotent_consumer import settings
from idempotent_consumer.cli.exit_codes import ExitCode
from idempotent_consumer.core.decide import TABLE
from idempotent_consumer.core.marker import SCHEMA_VERSION
from idempotent_consumer.core.outcome import OutcomeName
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.doctor import MANAGEMENT
from tests import field_cases
from tests.acceptance import sentences

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "local.settings.sample.json"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NOT_RUN = "*Not run here.*"

RUN_BY = {
    "make demo": "tests/acceptance/test_demo.py",
    "make test": ".ci/run",
    "local-azure": "tests/acceptance/test_three_shells.py",
    "python infra/create_containers.py": "tests/infra/test_compose.py",
    "idempotent-consumer": "tests/acceptance/test_three_shells.py",
}
"""What runs the shell commands of the documents."""


def blocks(language: str) -> list[tuple[str, str]]:
    """Each block of that language, unless it says that it is not run, with its document."""
    found = []
    for path in DOCUMENTS:
        text = path.read_text("utf-8")
        for block in BLOCK.finditer(text):
            said = text[: block.start()].rstrip()
            if block[1] == language and not said.endswith(NOT_RUN):
                found.append((path.name, block[2]))
    return found


def reference(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading of the reference."""
    text = (ROOT / "docs" / "reference.md").read_text("utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


def named(heading: str) -> list[str]:
    return [cell for row in reference(heading) for cell in re.findall(r"`([^`]+)`", row[0])]


@pytest.mark.parametrize(("document", "code"), blocks("python"))
def test_the_code_of_a_document_runs(
    document: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.load_local_settings(SAMPLE, {}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("idempotent_consumer.wiring.worker.Worker.run", lambda _self: None)
    exec(compile(code, document, "exec"), {"__name__": document})  # noqa: S102  # it is ours


def test_the_first_code_of_the_readme_is_the_example_itself() -> None:
    """Less its imports and the last line, which differ by where it stands."""
    shown = ast.parse(blocks("python")[0][1]).body
    real = ast.parse((ROOT / "src/shop/app.py").read_text("utf-8")).body
    kinds = (ast.Assign, ast.FunctionDef)
    assert [ast.dump(node) for node in shown if isinstance(node, kinds)] == [
        ast.dump(node) for node in real if isinstance(node, kinds)
    ]


@pytest.mark.parametrize(("document", "code"), blocks("sh"))
def test_the_commands_of_a_document_are_run_somewhere(document: str, code: str) -> None:
    for line in code.splitlines():
        runner = next((RUN_BY[name] for name in RUN_BY if line.startswith(name)), None)
        assert runner, f"{document} names {line!r}, which nothing runs"
        assert (ROOT / runner).exists()


def test_the_sentences_of_the_pattern_are_those_that_are_tested() -> None:
    assert sentences.PAGE.read_text("utf-8") == sentences.page()


def test_each_case_from_the_field_is_shown_by_a_test() -> None:
    assert field_cases.tests_by_case().keys() == field_cases.CATALOGUE.keys()
    assert field_cases.PAGE.read_text("utf-8") == field_cases.page()


def test_each_limit_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "limits.md").read_text("utf-8")
    for path, _, name in re.findall(r"`(tests/[^:`]+)(::(\w+))?`", text):
        assert f"def {name}" in (ROOT / path).read_text("utf-8")


def test_each_outcome_is_described_and_no_other() -> None:
    assert named("Outcomes") == [name.value for name in OutcomeName]


def test_the_settlements_described_are_those_of_the_table() -> None:
    described = {row[0].strip("`"): row[1:] for row in reference("Settlements")}
    assert described == {
        name.value: [action.name.lower().replace("_", "-") for action in actions]
        for name, actions in TABLE.items()
    }


def test_each_reason_is_described_and_no_other() -> None:
    assert named("Dead-letter reasons") == [reason.value for reason in Reason]


def test_each_exit_code_is_described_and_no_other() -> None:
    assert [row[0] for row in reference("Exit codes")] == [str(int(code)) for code in ExitCode]


def test_each_setting_is_described_and_no_other() -> None:
    own = {settings.PROFILE, settings.LOG_KEYS, MANAGEMENT}
    azure = {"ServiceBus", "ServiceBus__fullyQualifiedNamespace", "ServiceBus__clientId"}
    cosmos = {"Cosmos", "Cosmos__accountEndpoint", "Cosmos__clientId"}
    assert set(named("Settings")) == own | azure | cosmos


def test_the_marker_described_is_the_one_that_is_stored() -> None:
    rows = {row[0]: row[1] for row in reference("The stored marker")}
    assert rows["`schemaVersion`"] == str(SCHEMA_VERSION)
