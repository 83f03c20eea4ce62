"""The facts of a set-up in Azure of which nothing bad can be said."""

from __future__ import annotations

from datetime import timedelta

from idempotent_consumer.core.consumer import Container
from idempotent_consumer.core.profile import Profile
from idempotent_consumer.doctor.facts import (
    Account,
    Broker,
    DeployedContainer,
    DeployedQueue,
    Facts,
)
from idempotent_consumer.servicebus.diagnosis import QueueAddress

PROFILE = Profile(
    name="prod",
    max_deliveries=100,
    lifetime=timedelta(days=7),
    window=timedelta(minutes=10),
    horizon=timedelta(minutes=10),
    resubmission_age=timedelta(days=14),
    resubmissions=1,
    retention=timedelta(days=45),
    margin=timedelta(days=1),
    outage=timedelta(hours=6),
)
QUEUE = DeployedQueue(
    lock=timedelta(minutes=1),
    max_deliveries=100,
    lifetime=timedelta(days=7),
    window=timedelta(minutes=10),
    dead_letters_expired=True,
    sessions=False,
    partitioned=False,
)
BROKER = Broker(
    address=QueueAddress(namespace="contoso.servicebus.windows.net", queue="orders"),
    management="https://contoso.servicebus.windows.net",
    emulated=False,
    receiving=None,
    queue=QUEUE,
)
CONTAINER = DeployedContainer(
    partition_paths=("/orderId",),
    hash_version=2,
    default_ttl=-1,
    unique_keys=False,
    reading=None,
)
ACCOUNT = Account(several_write_regions=False, skew=timedelta(), container=CONTAINER)
FACTS = Facts(
    profile=PROFILE,
    warnings=(),
    broker=BROKER,
    endpoint="https://contoso.documents.azure.com:443/",
    container=Container("shop/orders", "/orderId"),
    account=ACCOUNT,
)
