"""A misconfiguration comes with the command that mends it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from idempotent_consumer.core.commit import Fault
from idempotent_consumer.core.consumer import Container
from idempotent_consumer.cosmos.advice import Advice
from idempotent_consumer.cosmos.faults import read_failure
from tests.unit.cosmos.errors import answered

if TYPE_CHECKING:
    import pytest

ADVICE = Advice("https://contoso.documents.azure.com:443/", Container("shop/orders", "/orderId"))
PRINCIPAL = "0cd8f3af-37e3-49cb-9bea-b84a6dc67f50"
CLIENT = "6c074fef-4642-4185-9eb9-0808b36f3869"
FORBIDDEN = (
    "Request blocked by Auth contoso : Request is blocked because principal "
    f"[{PRINCIPAL}] does not have required RBAC permissions to perform action "
    "[Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/create] on resource "
    "[dbs/shop/colls/orders]. Learn more: https://aka.ms/cosmos-native-rbac."
)
GRANT = (
    "{who} may not use shop/orders. Unless the account's network rules keep this host out, grant "
    "the role: az cosmosdb sql role assignment create --account-name contoso --resource-group "
    '"$(az cosmosdb list --query "[?name==\'contoso\'].resourceGroup" --output tsv)" '
    "--scope /dbs/shop/colls/orders "
    "--role-definition-id 00000000-0000-0000-0000-000000000002 --principal-id {object_id}"
)


def forbidden(message: str) -> str:
    fault = read_failure(answered(403, 5300, message), ADVICE)
    assert isinstance(fault, Fault)
    return fault.advice


def test_the_principal_that_the_service_names_is_granted_the_role() -> None:
    assert forbidden(FORBIDDEN) == GRANT.format(who=f"principal {PRINCIPAL}", object_id=PRINCIPAL)


def test_else_the_identity_of_the_settings_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_CLIENT_ID", CLIENT)
    assert forbidden("Forbidden") == GRANT.format(
        who=f"the identity with client id {CLIENT}",
        object_id=f'"$(az ad sp show --id {CLIENT} --query id --output tsv)"',
    )


def test_else_it_is_left_open_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_CLIENT_ID", raising=False)
    assert forbidden("Forbidden") == GRANT.format(
        who="the identity in use", object_id="'<its object id>'"
    )


def test_a_missing_container_is_created_as_it_is_declared() -> None:
    assert ADVICE.create_container() == (
        "there is no container shop/orders; create it: "
        "az cosmosdb sql container create --account-name contoso --resource-group "
        '"$(az cosmosdb list --query "[?name==\'contoso\'].resourceGroup" --output tsv)" '
        "--database-name shop --name orders "
        "--partition-key-path /orderId --partition-key-version 2 --ttl -1"
    )


def test_an_emulator_is_mended_by_no_command_of_azures() -> None:
    emulated = Advice("http://localhost:8081/", ADVICE.container)
    mends = (emulated.create_container(), emulated.declare_path(), emulated.hash_whole_values())
    for mend in mends:
        assert "az " not in mend
        assert mend.endswith(
            '{"id": "orders", "partitionKey": {"paths": ["/orderId"], "kind": "Hash", '
            '"version": 2}, "defaultTtl": -1}'
        )


def test_names_are_quoted_for_the_shell() -> None:
    odd = Container("my shop/$(rm) it's", "/orderId")
    command = Advice(ADVICE.endpoint, odd).create_container()
    _, _, names = command.partition("--database-name ")
    assert shlex.split(names)[:3] == ["my shop", "--name", "$(rm) it's"]
