"""The host indexes `function_app.py` by the real worker library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip(
    "azure_functions_runtime",
    reason="azure-functions-runtime is not installed (Python 3.13 only): make functions-test",
)

from local_azure.cosmos import LocalCosmos
from tests.hosts.functions.host import functions_host
from tests.hosts.functions.samples import CONTAINERS, app_settings

GOLDEN = Path(__file__).with_name("bindings.json")


@pytest.mark.case("DEP-04")
@pytest.mark.parametrize("native", [False, True])
async def test_the_host_binds_to_what_the_golden_file_says(native: bool) -> None:
    async with (
        LocalCosmos(CONTAINERS) as cosmos,
        functions_host(app_settings(cosmos), native=native) as host,
    ):
        assert [function.name for function in host.functions] == ["order-processor"]
        assert host.bindings() == json.loads(GOLDEN.read_text("utf-8"))


@pytest.mark.parametrize("name", ["ServiceBus", "Cosmos", "ORDERS_QUEUE"])
async def test_an_app_without_a_setting_does_not_start_and_says_why(name: str) -> None:
    async with LocalCosmos(CONTAINERS) as cosmos:
        incomplete = {**app_settings(cosmos), name: ""}
        with pytest.raises(RuntimeError, match=rf"SettingsError.*\n- {name}\w* is missing"):
            async with functions_host(incomplete):
                pass
