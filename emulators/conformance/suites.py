"""The suites: whose tests, which files of them, and what they are given to run against."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_DESELECTED: Final = _HERE / "deselected.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tests that come with the source of a package of Microsoft's.

    Attributes:
        name: What it is called on the command line and in ``deselected.toml``.
        package: The package, tested in the version that is installed.
        files: Those of its test files that are about what is emulated.
        plugin: The pytest plugin that starts the emulator.
        seconds: How long one test may take.
        options: Further options of pytest.
    """

    name: str
    package: str
    files: tuple[str, ...]
    plugin: str
    seconds: int
    options: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """The package and its version."""
        return f"{self.package}=={version(self.package)}"

    @property
    def overlay(self) -> Path:
        """Files that are laid over the tests, in place of what is not published."""
        return _HERE / "overlays" / self.name

    @property
    def reasons(self) -> dict[str, str]:
        """Why each test that is deselected is not run, by the test's id."""
        groups = tomllib.loads(_DESELECTED.read_text(encoding="utf-8"))[self.name]
        return {test: group["reason"] for group in groups for test in group["tests"]}

    def deselected(self, file: str) -> list[str]:
        """The ids of the tests of a file that are not run."""
        return [test for test in self.reasons if test.startswith(f"{file}::")]


def _with_async(*names: str) -> tuple[str, ...]:
    """The files of these names, the synchronous client's and the asynchronous one's."""
    return tuple(f"test_{name}{client}.py" for name in names for client in ("", "_async"))


_COSMOS: Final = Suite(
    name="cosmos",
    package="azure-cosmos",
    plugin="emulators.conformance.cosmos",
    seconds=120,
    options=("-o", "asyncio_mode=auto"),
    files=(
        *_with_async("transactional_batch", "change_feed", "crud", "query", "session"),
        *_with_async("partition_key", "encoding", "headers", "read_items", "cosmos_responses"),
        *_with_async("none_options", "crud_database", "crud_container", "crud_subpartition"),
        *_with_async("crud_response_payload_on_write_disabled", "resource_id", "retry_policy"),
        *_with_async("query_response_headers", "changefeed_partition_key_variation"),
        "test_ttl.py",
        "test_user_configs.py",
        "test_orderby.py",
    ),
)

_SERVICEBUS: Final = Suite(
    name="servicebus",
    package="azure-servicebus",
    plugin="emulators.conformance.servicebus",
    seconds=600,  # they mostly sleep
    options=("-o", "asyncio_mode=auto", "-n", "4", "--dist", "worksteal"),
    files=(
        "test_queues.py",
        "async_tests/test_queues_async.py",
        "test_sessions.py",
        "async_tests/test_sessions_async.py",
        "test_subscriptions.py",
        "async_tests/test_subscriptions_async.py",
        "test_topic.py",
        "async_tests/test_topic_async.py",
        "test_list_sessions.py",
        "async_tests/test_list_sessions_async.py",
    ),
)

SUITES: Final = {suite.name: suite for suite in (_COSMOS, _SERVICEBUS)}
