"""Every query is KQL, by Microsoft's own analyser, over the tables of Log Analytics."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.infra.deployed import BUILD, LOG_ALERTS, WORKBOOKS, alerts, only

ANALYSER = Path(__file__).parent / "kusto"
NODE = shutil.which("node")

TABLES = {
    "AppMetrics": (
        "(TimeGenerated: datetime, Name: string, ItemCount: int, Sum: real, Min: real, "
        "Max: real, Properties: dynamic)"
    ),
    "AppTraces": (
        "(TimeGenerated: datetime, Message: string, SeverityLevel: int, ItemCount: int, "
        "Properties: dynamic)"
    ),
}
"""The columns that are used, as Azure Monitor's table reference has them."""

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="Node.js is not installed: queries are not analysed"),
    pytest.mark.skipif(
        not (ANALYSER / "node_modules").is_dir(),
        reason="Microsoft's KQL analyser is not installed: make infra-test installs it",
    ),
]


def analysed(queries: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Problems and result columns of each query."""
    ran = subprocess.run(  # noqa: S603 - our own arguments
        [str(NODE), str(ANALYSER / "analyse.cjs")],
        input=json.dumps({"tables": TABLES, "queries": queries}),
        capture_output=True,
        text=True,
        check=True,
    )
    results: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return results


def queries() -> dict[str, str]:
    """Every query of the alerts and of the workbook."""
    files = {path.name: path.read_text("utf-8") for path in (BUILD.parent / "kql").iterdir()}
    page = json.loads(only("prod", WORKBOOKS)["properties"]["serializedData"])
    charts = {item["name"]: item["content"] for item in page["items"]}
    return files | {name: chart["query"] for name, chart in charts.items() if "query" in chart}


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    return analysed(queries() | {"wrong": "AppMetrics | where Nam == 'x' | sumarize count()"})


def test_each_query_is_understood(results: dict[str, dict[str, Any]]) -> None:
    found = {name: results[name]["problems"] for name in queries()}
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_a_wrong_query_would_be_seen(results: dict[str, dict[str, Any]]) -> None:
    assert any("'Nam' does not refer" in problem for problem in results["wrong"]["problems"])


def test_an_alert_measures_a_number_and_splits_by_text(
    results: dict[str, dict[str, Any]],
) -> None:
    for name, alert in alerts("prod", LOG_ALERTS).items():
        (criterion,) = alert["criteria"]["allOf"]
        columns = results[f"{name}.kql"]["columns"]
        assert columns.pop(criterion["metricMeasureColumn"]) in {"long", "real"}
        split_by = [dimension["name"] for dimension in criterion["dimensions"]]
        assert columns == dict.fromkeys(split_by, "string")
