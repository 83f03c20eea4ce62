"""What would mend a misconfiguration: the exact command, for the log."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from idempotent_consumer.core.consumer import Container

DATA_CONTRIBUTOR = "00000000-0000-0000-0000-000000000002"
"""The built-in role "Cosmos DB Built-in Data Contributor"."""


@dataclass(frozen=True, slots=True)
class Advice:
    """For one container of the account at this endpoint."""

    endpoint: str
    container: Container

    def grant_role(self, principal: str | None) -> str:
        """For an identity that may not use the container.

        Args:
            principal: The identity's object id, where the service named it.
        """
        who, object_id = _identity(principal)
        scope = f"/dbs/{self.container.database}/colls/{self.container.name}"
        return (
            f"{who} may not use {self.container.path}. Unless the account's network rules keep "
            f"this host out, grant the role: az cosmosdb sql role assignment create "
            f"{self._account} --scope {quote(scope)} "
            f"--role-definition-id {DATA_CONTRIBUTOR} --principal-id {object_id}"
        )

    def create_container(self) -> str:
        """For a container that is not there."""
        if self._is_emulated:
            return f"there is no container {self.container.path}; {self._define()}"
        return (
            f"there is no container {self.container.path}; create it: "
            f"az cosmosdb sql container create {self._container} "
            f"--partition-key-path {quote(self.container.partition_path)} "
            f"--partition-key-version 2 --ttl -1"
        )

    def declare_path(self) -> str:
        """For a container with another partition key path."""
        shown = f"az cosmosdb sql container show {self._container} --query resource.partitionKey"
        mend = self._define() if self._is_emulated else f"this shows its path: {shown}.paths"
        return (
            f"{self.container.path} is not partitioned by {self.container.partition_path}, as "
            f"the consumer declares; {mend}"
        )

    def keep_one_write_region(self) -> str:
        """For an account that two creates of one document can both succeed in."""
        return (
            f"the account at {self.endpoint} has several write regions, so that creating a "
            "document decides nothing; keep one: az cosmosdb update "
            f"{self._account.replace('--account-name', '--name')} "
            "--enable-multiple-write-locations false"
        )

    def hash_whole_values(self) -> str:
        """For a container that hashes the beginnings of long partition values alone."""
        mend = (
            self._define()
            if self._is_emulated
            else "a container keeps its version for life, so its documents, markers among them, "
            "have to move to another one that has version 2, while the queue is empty"
        )
        return (
            f"{self.container.path} has a partition key of version 1, under which values that "
            f"share their first 101 bytes share a partition; {mend}"
        )

    def mend_credentials(self) -> str:
        """For a key or token that the account does not accept, or none to be had."""
        return (
            f"the account at {self.endpoint} accepts no key or token of this process: compare "
            "the key, or use an identity where keys are disabled ('az login' on a developer's "
            "machine; AZURE_CLIENT_ID names a user-assigned one)"
        )

    @property
    def _is_emulated(self) -> bool:
        """Whether no command of Azure's reaches the account."""
        return ".documents." not in self._host

    def _define(self) -> str:
        defined = {
            "id": self.container.name,
            "partitionKey": {
                "paths": [self.container.partition_path],
                "kind": "Hash",
                "version": 2,
            },
            "defaultTtl": -1,
        }
        return (
            f"make the container of database '{self.container.database}' anew in the emulator: "
            f"{json.dumps(defined)}"
        )

    @property
    def _host(self) -> str:
        return urlsplit(self.endpoint).hostname or ""

    @property
    def _account(self) -> str:
        name = self._host.partition(".documents.")[0]
        group = f"az cosmosdb list --query \"[?name=='{name}'].resourceGroup\" --output tsv"
        return f'--account-name {name} --resource-group "$({group})"'

    @property
    def _container(self) -> str:
        return (
            f"{self._account} --database-name {quote(self.container.database)} "
            f"--name {quote(self.container.name)}"
        )


def _identity(principal: str | None) -> tuple[str, str]:
    """Who that is, and how a command names its object id."""
    if principal is not None:
        return f"principal {principal}", principal
    if client_id := os.environ.get("AZURE_CLIENT_ID"):
        query = f"az ad sp show --id {quote(client_id)} --query id --output tsv"
        return f"the identity with client id {client_id}", f'"$({query})"'
    return "the identity in use", "'<its object id>'"
