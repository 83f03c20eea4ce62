"""The admin endpoint, asked over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from local_azure.admin import AdminEndpoint
from local_azure.clock import Clock
from local_azure.events import Event, EventLog
from local_azure.faults import Delay, Drop, Fail, Faults, Hang, Operation, Targets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from local_azure.faults import Action

NOW = 1_700_000_000.0
_DROP = {"kind": "drop", "applied": True}
CREATE = Operation(name="create", entity="shop/orders", key="a")


@dataclass(frozen=True)
class Admin:
    endpoint: AdminEndpoint
    session: aiohttp.ClientSession

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = {"data": body} if isinstance(body, bytes) else {"json": body}
        async with self.session.request(method, path, **data) as answer:
            return answer.status, await answer.json() if answer.status != 204 else None

    def strike(self, service: str = "cosmos") -> Action | None:
        return self.endpoint.faults[service].strike(CREATE)


@pytest.fixture
async def admin() -> AsyncIterator[Admin]:
    endpoint = AdminEndpoint(
        clock=Clock(frozen_at=NOW),
        events=EventLog(),
        faults={"servicebus": Faults(), "cosmos": Faults()},
    )
    endpoint.faults["servicebus"].aim_at(
        Targets(operations={"send": frozenset({Drop, Fail})}, code=str)
    )
    endpoint.faults["cosmos"].aim_at(
        Targets(
            operations={"create": frozenset({Drop, Delay, Hang, Fail}), "read": frozenset({Delay})},
            code=int,
        )
    )
    async with endpoint, aiohttp.ClientSession(endpoint.url) as session:
        yield Admin(endpoint, session)


async def test_it_is_healthy_while_it_listens(admin: Admin) -> None:
    assert await admin.ask("GET", "/health") == (200, {"status": "healthy"})


@pytest.mark.parametrize(
    ("ordered", "action"),
    [
        ({"kind": "drop", "applied": True}, Drop(applied=True)),
        ({"kind": "delay", "seconds": 0.5}, Delay(seconds=0.5)),
        ({"kind": "hang", "applied": False}, Hang(applied=False)),
        (
            {"kind": "fail", "code": 429, "sub_status": 3200, "retry_after": 1},
            Fail(code=429, sub_status=3200, retry_after=1),
        ),
    ],
)
async def test_a_posted_fault_befalls_the_service_it_names(
    admin: Admin, ordered: dict[str, Any], action: Action
) -> None:
    status, _ = await admin.ask("POST", "/faults", {"service": "cosmos", "action": ordered})
    assert status == 201
    assert admin.strike("servicebus") is None
    assert admin.strike() == action


async def test_a_fault_says_which_operations_and_how_often(admin: Admin) -> None:
    order = {
        "service": "cosmos",
        "operation": "cre*",
        "entity": "shop/orders",
        "key": "a",
        "skip": 1,
        "times": 2,
        "action": {"kind": "drop", "applied": False},
    }
    await admin.ask("POST", "/faults", order)
    assert [admin.strike() is None for _ in range(4)] == [True, False, False, True]
    assert await admin.ask("GET", "/faults") == (200, {"faults": [{**order, "hits": 2}]})


async def test_faults_set_from_python_are_listed_too(admin: Admin) -> None:
    admin.endpoint.faults["cosmos"].add(Delay(seconds=1), operation="read")
    _, listed = await admin.ask("GET", "/faults")
    (fault,) = listed["faults"]
    assert (fault["service"], fault["operation"], fault["action"]) == (
        "cosmos",
        "read",
        {"kind": "delay", "seconds": 1},
    )


async def test_faults_are_lifted_together(admin: Admin) -> None:
    drop = {"kind": "drop", "applied": True}
    await admin.ask("POST", "/faults", {"service": "cosmos", "action": drop})
    assert await admin.ask("DELETE", "/faults") == (204, None)
    assert admin.strike() is None
    assert await admin.ask("GET", "/faults") == (200, {"faults": []})


@pytest.mark.parametrize(
    ("order", "named"),
    [
        (b"{", "not a JSON document"),
        (b'{"advance": NaN}', "not a JSON document"),
        ([], "object"),
        ({"service": "cosmos"}, "missing: action"),
        ({"service": "sql", "action": {"kind": "drop", "applied": True}}, "service"),
        ({"service": "cosmos", "action": {"kind": "burn"}}, "action.kind"),
        ({"service": "cosmos", "action": {"kind": "drop"}}, "missing: applied"),
        ({"service": "cosmos", "action": {"kind": "drop", "applied": 1}}, "type: applied"),
        ({"service": "cosmos", "action": {}, "color": 1, "when": 2}, "unknown: color, when"),
        ({"service": "cosmos", "action": {"kind": "hang", "applied": True, "x": 1}}, "unknown: x"),
        ({"service": "cosmos", "action": {"kind": "fail", "code": "amqp:x"}}, "HTTP status"),
        ({"service": "cosmos", "action": {"kind": "fail", "code": 200}}, "HTTP status"),
        ({"service": "servicebus", "action": {"kind": "fail", "code": 500}}, "error condition"),
        ({"service": "cosmos", "action": {"kind": "lapse"}}, "Lapse has no effect"),
        ({"service": "cosmos", "action": {}, "times": "2"}, "type: times"),
        ({"service": "cosmos", "action": {}, "skip": True}, "type: skip"),
        ({"service": "cosmos", "action": _DROP, "times": 0}, "times is a number"),
        ({"service": "cosmos", "action": _DROP, "skip": -1}, "skip is a number"),
        ({"service": "cosmos", "action": _DROP, "operation": "craete"}, "no operation 'craete'"),
        ({"service": "servicebus", "action": _DROP, "operation": "create"}, "no operation"),
        (b'{"service": "cosmos", "action": {"kind": "delay", "seconds": 1e999}}', "seconds"),
        (b'{"service": "cosmos", "action": {"kind": "delay", "seconds": -1}}', "seconds"),
    ],
    ids=range(22),
)
async def test_an_order_that_is_none_is_refused_and_says_why(
    admin: Admin, order: Any, named: str
) -> None:
    status, refusal = await admin.ask("POST", "/faults", order)
    assert status == 400
    assert named in refusal["error"]


async def test_events_are_listed_filtered_and_forgotten(admin: Admin) -> None:
    for service, name in (("cosmos", "create"), ("cosmos", "read"), ("servicebus", "sent")):
        event = Event(at=NOW, service=service, name=name, entity="orders", key="a", detail=None)
        admin.endpoint.events.add(event)

    async def names(query: str) -> list[str]:
        _, listed = await admin.ask("GET", f"/events{query}")
        return [event["name"] for event in listed["events"]]

    assert await names("") == ["create", "read", "sent"]
    assert await names("?service=cosmos") == ["create", "read"]
    assert await names("?service=cosmos&name=read&key=a") == ["read"]
    assert await names("?key=b") == []
    assert (await admin.ask("GET", "/events?color=1"))[0] == 400
    assert (await admin.ask("DELETE", "/events?color=1"))[0] == 400
    assert await admin.ask("DELETE", "/events?service=cosmos&name=read") == (204, None)
    assert await names("") == ["create", "sent"]
    assert await admin.ask("DELETE", "/events") == (204, None)
    assert await names("") == []


async def test_the_clock_is_shown_and_only_moved_forward(admin: Admin) -> None:
    assert await admin.ask("GET", "/clock") == (200, {"now": NOW})
    assert await admin.ask("POST", "/clock", {"advance": 60}) == (200, {"now": NOW + 60})
    for advance in (-1, True, "60", None, 10**400, 10**12):
        assert (await admin.ask("POST", "/clock", {"advance": advance}))[0] == 400
    assert (await admin.ask("POST", "/clock", b'{"advance": 1e999}'))[0] == 400
    assert admin.endpoint.clock.now() == NOW + 60


async def test_other_paths_are_not_found_and_other_methods_not_allowed(admin: Admin) -> None:
    assert (await admin.ask("GET", "/orders"))[0] == 404
    assert (await admin.ask("PUT", "/clock"))[0] == 405
