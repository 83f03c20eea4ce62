"""What was found out about a set-up: values alone, which the checks judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from idempotent_consumer.core.profile import Profile

if TYPE_CHECKING:
    from datetime import timedelta

    from idempotent_consumer.core.commit import Fault
    from idempotent_consumer.core.consumer import Container
    from idempotent_consumer.servicebus.diagnosis import Diagnosis, QueueAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedQueue:
    """A queue as its namespace's management shows it.

    Attributes:
        lifetime: Of a message; ``None`` for ever.
        window: Duplicate detection's; ``None`` where it is off.
        dead_letters_expired: Expired messages go to the dead-letter queue.
    """

    lock: timedelta
    max_deliveries: int
    lifetime: timedelta | None
    window: timedelta | None
    dead_letters_expired: bool
    sessions: bool
    partitioned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """The Service Bus namespace, as seen from here.

    Attributes:
        management: The address of its management.
        emulated: It is reached by an emulator's connection string.
        receiving: Why the queue cannot be received from; ``None`` where it can.
        queue: The queue, or why it is not shown.
    """

    address: QueueAddress
    management: str
    emulated: bool
    receiving: Diagnosis | None
    queue: DeployedQueue | Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedContainer:
    """A container as its account shows it.

    Attributes:
        hash_version: Of the partition key.
        default_ttl: Seconds; -1 is on without a default, ``None`` is off.
        reading: The fault that a point read met; ``None`` where it was answered.
    """

    partition_paths: tuple[str, ...]
    hash_version: int
    default_ttl: int | None
    unique_keys: bool
    reading: Fault | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The Cosmos DB account, as seen from here.

    Attributes:
        skew: How far the clock of this machine is ahead of the account's; ``None`` where
            the account's answers do not tell.
        container: The container, or why it is not shown.
    """

    several_write_regions: bool
    skew: timedelta | None
    container: DeployedContainer | Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A set-up, as seen from here.

    Attributes:
        profile: What the deployment promises.
        warnings: What a host would say at its start.
        endpoint: The Cosmos DB account's address.
        container: The consumer's, as it declares it.
        account: The account, or why it is not shown.
    """

    profile: Profile
    warnings: tuple[str, ...]
    broker: Broker
    endpoint: str
    container: Container
    account: Account | Fault

    @property
    def profile_is_assumed(self) -> bool:
        """There is none in the settings, so it says nothing of what was deployed."""
        return self.profile == Profile()
