"""Stands for the module that creates entities in Azure: creates them in the emulator."""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from emulators.conformance.servicebus import BUS, on_loop
from local_azure.servicebus import QueueProperties, SubscriptionProperties, TopicProperties
from local_azure.servicebus.broker.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable

_PARTS = dict(part.split("=", 1) for part in BUS.connection_string.split(";") if part)
_HOST, _PORT = _PARTS["Endpoint"].removeprefix("sb://").split(":")
_DELIVERIES = 10
"""The service's default; the emulators' is smaller."""

SERVICEBUS_ENDPOINT_SUFFIX = f":{_PORT}"

_Keywords = dict[str, Any]


class _Preparer:
    """A decorator that adds to the keywords of a test what the test runs against."""

    def __init__(self, create: Callable[[_Keywords], _Keywords]) -> None:
        self._create = create

    def __call__(self, test: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(test):

            @functools.wraps(test)
            async def run_async(*positional: Any, **keywords: Any) -> None:
                await test(*positional, **keywords | self._create(keywords))

            return run_async

        @functools.wraps(test)
        def run(*positional: Any, **keywords: Any) -> None:
            test(*positional, **keywords | self._create(keywords))

        return run


def _resource_group(**_: Any) -> _Preparer:
    return _Preparer(lambda _: {})


def _namespace(**_: Any) -> _Preparer:
    return _Preparer(
        lambda _: {
            "servicebus_namespace": SimpleNamespace(name=_HOST),
            "servicebus_namespace_connection_string": BUS.connection_string,
            "servicebus_namespace_key_name": _PARTS["SharedAccessKeyName"],
            "servicebus_namespace_primary_key": _PARTS["SharedAccessKey"],
        }
    )


def _queue(
    *, parameter_name: str = "servicebus_queue", name_prefix: str = "", **given: Any
) -> _Preparer:
    properties = QueueProperties(**_properties(given, lock_duration="PT30S"))

    def create(_: _Keywords) -> _Keywords:
        name = _name(name_prefix)
        on_loop(BUS.entities.create_queue, name, properties)
        return {parameter_name: SimpleNamespace(name=name)}

    return _Preparer(create)


def _topic(*, name_prefix: str = "", **_: Any) -> _Preparer:
    def create(_: _Keywords) -> _Keywords:
        name = _name(name_prefix)
        on_loop(BUS.entities.create_topic, name, TopicProperties())
        return {"servicebus_topic": SimpleNamespace(name=name)}

    return _Preparer(create)


def _subscription(*, name_prefix: str = "", **given: Any) -> _Preparer:
    properties = SubscriptionProperties(**_properties(given, lock_duration="PT60S"))

    def create(keywords: _Keywords) -> _Keywords:
        name = _name(name_prefix)
        topic = keywords["servicebus_topic"].name
        on_loop(BUS.entities.create_subscription, topic, name, properties)
        return {"servicebus_subscription": SimpleNamespace(name=name)}

    return _Preparer(create)


def _properties(given: _Keywords, **defaults: Any) -> _Keywords:
    properties = defaults | given | {"max_delivery_count": _DELIVERIES}
    properties.pop("enable_partitioning", None)  # a queue here is one partition
    return properties | {"lock_duration": parse_duration(properties["lock_duration"])}


def _name(prefix: str) -> str:
    return f"{prefix}-{uuid4().hex[:12]}"


ServiceBusResourceGroupPreparer = CachedServiceBusResourceGroupPreparer = _resource_group
ServiceBusNamespacePreparer = CachedServiceBusNamespacePreparer = _namespace
ServiceBusQueuePreparer = CachedServiceBusQueuePreparer = _queue
ServiceBusTopicPreparer = CachedServiceBusTopicPreparer = _topic
ServiceBusSubscriptionPreparer = CachedServiceBusSubscriptionPreparer = _subscription
