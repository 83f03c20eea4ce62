"""The exact command, or line of configuration, that mends what was found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from shlex import quote
from typing import TYPE_CHECKING

from idempotent_consumer.cosmos.advice import Advice
from idempotent_consumer.doctor.management import MANAGEMENT
from idempotent_consumer.doctor.properties import text_of, wanted_by

if TYPE_CHECKING:
    from idempotent_consumer.core.profile import Profile
    from idempotent_consumer.doctor.properties import Property, Value
    from idempotent_consumer.servicebus.diagnosis import QueueAddress

READS_PROPERTIES = "Azure Service Bus Data Owner"
"""The least built-in role that a namespace's management answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAdvice:
    """For one queue, which a profile tells how to make."""

    address: QueueAddress
    profile: Profile
    emulated: bool

    def create(self) -> str:
        """For a queue that is not there."""
        wanted = wanted_by(self.profile)
        if self.emulated:
            keys = {each.key: _json(each.wanted(self.profile)) for each in wanted if each.key}
            queue = {"Name": self.address.queue, "Properties": keys}
            return f"add to the Queues of the emulator's Config.json: {json.dumps(queue)}"
        options = " ".join(map(self._option, wanted))
        return f"az servicebus queue create {self._queue} {options}"

    def change(self, wrong: Property) -> str:
        """For a property that is not as wanted."""
        if self.emulated and wrong.key:
            line = json.dumps({wrong.key: _json(wrong.wanted(self.profile))})[1:-1]
            return (
                f"say {line} in the Properties of queue '{self.address.queue}' in the "
                "emulator's Config.json, and start it anew"
            )
        if wrong.fixed:
            return (
                "it is fixed at creation: let the queue run empty, delete it, and make it anew: "
                f"{self.create()}"
            )
        return f"az servicebus queue update {self._queue} {self._option(wrong)}"

    def show_properties(self, cause: str) -> str:
        """For a queue that management does not show."""
        if self.emulated:
            return f"say in {MANAGEMENT} where the emulator has its management"
        match cause:
            case "unauthorized":
                return self._grant_role()
            case "no credential":
                return "sign in with `az login`, or run this where a managed identity is"
            case _:
                return "see whether https (port 443) reaches the namespace from here"

    def _grant_role(self) -> str:
        return (
            "run this as an operator who has the role, or grant it to yourself; the app itself "
            f'must not have it: az role assignment create --role "{READS_PROPERTIES}" '
            '--assignee "$(az ad signed-in-user show --query id --output tsv)" '
            f'--scope "$(az resource list --name {self._namespace} --resource-type '
            "Microsoft.ServiceBus/namespaces --query [0].id --output tsv)"
            f'/queues/{self.address.queue}"'
        )

    def _option(self, wanted: Property) -> str:
        return f"{wanted.option} {text_of(wanted.wanted(self.profile))}"

    @property
    def _namespace(self) -> str:
        return self.address.namespace.partition(".")[0]

    @property
    def _queue(self) -> str:
        group = (
            f"az servicebus namespace list --query \"[?name=='{self._namespace}'].resourceGroup\" "
            "--output tsv"
        )
        return (
            f"--name {quote(self.address.queue)} --namespace-name {self._namespace} "
            f'--resource-group "$({group})"'
        )


def _json(value: Value) -> bool | int | str:
    return text_of(value) if isinstance(value, timedelta) else value


class ContainerAdvice(Advice):
    """Besides what a consumer meets at work, what only a look at the container shows."""

    def reach_account(self) -> str:
        """For an account that does not answer."""
        return (
            "compare the address, and see whether network rules, a firewall or a proxy keep this "
            "host from it"
        )

    def switch_expiry_on(self) -> str:
        """For a container in which no document expires."""
        if self._is_emulated:
            return self._define()
        return f"az cosmosdb sql container update {self._container} --ttl -1"
