"""The admin endpoint: health, faults, events and the clock, over HTTP."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import MISSING, dataclass, field, fields
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Self

from aiohttp import web

from local_azure.faults import Action, Delay, Drop, Fail, Faults, Hang, Lapse, Overtake
from local_azure.listening import listening, url_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from local_azure.clock import Clock
    from local_azure.events import Event, EventLog

    _Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_ACTIONS: Final[Mapping[str, type[Action]]] = {
    "drop": Drop,
    "delay": Delay,
    "hang": Hang,
    "fail": Fail,
    "lapse": Lapse,
    "overtake": Overtake,
}
_WHICH: Final = frozenset({"operation", "entity", "key", "skip", "times"})
_EVENT_FILTERS: Final = frozenset({"service", "name", "key"})
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "service": (str,),
    "operation": (str,),
    "entity": (str,),
    "key": (str, NoneType),
    "skip": (int,),
    "times": (int, NoneType),
    "action": (dict,),
    "applied": (bool,),
    "seconds": (int, float),
    "code": (int, str),
    "sub_status": (int,),
    "retry_after": (int, float, NoneType),
    "advance": (int, float),
}


class _BadRequestError(Exception):
    """The request is answered 400 with this text."""


@dataclass(eq=False, slots=True, kw_only=True)
class AdminEndpoint:
    """Listens while the context is entered; every answer is JSON.

    Attributes:
        clock: The clock that ``/clock`` shows and moves.
        events: The log that ``/events`` shows and clears.
        faults: The faults that ``/faults`` sets, by service.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one, which stands here afterwards.
        management: Routes of the management API, whose paths are those of entities.
    """

    clock: Clock
    events: EventLog
    faults: Mapping[str, Faults]
    host: str = "127.0.0.1"
    port: int = 0
    management: Sequence[web.RouteDef] = ()
    _listening: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)

    @property
    def url(self) -> str:
        """The endpoint's address."""
        return url_of(self.host, self.port)

    async def __aenter__(self) -> Self:
        """Starts to listen."""
        runner = web.AppRunner(self._application(), access_log=None)
        self.port = await self._listening.enter_async_context(
            listening(runner, self.host, self.port)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stops to listen."""
        await self._listening.aclose()

    def _application(self) -> web.Application:
        """Lays out the paths; the management API, which takes all others, comes last."""
        application = web.Application(middlewares=[_errors_as_json])
        application.add_routes(
            [
                web.get("/health", self._show_health),
                web.get("/faults", self._list_faults),
                web.post("/faults", self._set_fault),
                web.delete("/faults", self._clear_faults),
                web.get("/events", self._list_events),
                web.delete("/events", self._clear_events),
                web.get("/clock", self._show_clock),
                web.post("/clock", self._move_clock),
                *self.management,
            ]
        )
        return application

    async def _show_health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "healthy"})

    async def _list_faults(self, _: web.Request) -> web.Response:
        shown = [
            {"service": service} | fault.as_json()
            for service, faults in self.faults.items()
            for fault in faults
        ]
        return web.json_response({"faults": shown})

    async def _set_fault(self, request: web.Request) -> web.Response:
        order = await _read(request, required={"service", "action"}, optional=_WHICH)
        if order["service"] not in self.faults:
            raise _BadRequestError(f"service: one of {sorted(self.faults)}")
        action = _action(order["action"])
        which = {name: order[name] for name in _WHICH & order.keys()}
        try:
            fault = self.faults[order["service"]].add(action, **which)
        except ValueError as error:
            raise _BadRequestError(str(error)) from error
        return web.json_response({"service": order["service"]} | fault.as_json(), status=201)

    async def _clear_faults(self, _: web.Request) -> web.Response:
        for faults in self.faults.values():
            faults.clear()
        return web.Response(status=204)

    async def _list_events(self, request: web.Request) -> web.Response:
        wanted = _wanted_events(request)
        return web.json_response(
            {"events": [event.as_json() for event in self.events if wanted(event)]}
        )

    async def _clear_events(self, request: web.Request) -> web.Response:
        self.events.clear(_wanted_events(request))
        return web.Response(status=204)

    async def _show_clock(self, _: web.Request) -> web.Response:
        return web.json_response({"now": self.clock.now()})

    async def _move_clock(self, request: web.Request) -> web.Response:
        order = await _read(request, required={"advance"})
        try:
            self.clock.advance(order["advance"])
        except ValueError as error:
            raise _BadRequestError(f"advance: {error}") from error
        return web.json_response({"now": self.clock.now()})


@web.middleware
async def _errors_as_json(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except _BadRequestError as error:
        return web.json_response({"error": str(error)}, status=400)
    except web.HTTPException as error:
        return web.json_response({"error": error.reason}, status=error.status)


async def _read(
    request: web.Request, *, required: set[str], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    try:
        value = json.loads(await request.read(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _BadRequestError("the body is not a JSON document") from error
    return _checked(value, required, optional)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _action(order: dict[str, Any]) -> Action:
    kind = order.get("kind")
    if not isinstance(kind, str) or kind not in _ACTIONS:
        raise _BadRequestError(f"action.kind: one of {sorted(_ACTIONS)}")
    parameters = fields(_ACTIONS[kind])
    required = {parameter.name for parameter in parameters if parameter.default is MISSING}
    given = {name: value for name, value in order.items() if name != "kind"}
    optional = frozenset(parameter.name for parameter in parameters)
    try:
        return _ACTIONS[kind](**_checked(given, required, optional))
    except ValueError as error:
        raise _BadRequestError(f"action: {error}") from error


def _wanted_events(request: web.Request) -> Callable[[Event], bool]:
    _refuse("unknown", request.query.keys() - _EVENT_FILTERS)
    wanted = dict(request.query)
    return lambda event: all(getattr(event, name) == value for name, value in wanted.items())


def _checked(value: object, required: set[str], optional: frozenset[str]) -> dict[str, Any]:
    """An object with the fields it needs, no other, each of its type."""
    if not isinstance(value, dict):
        raise _BadRequestError("a JSON object is needed")
    _refuse("missing", required - value.keys())
    _refuse("unknown", value.keys() - required - optional)
    _refuse("of a wrong type", {name for name in value if not _is_typed(name, value[name])})
    return value


def _refuse(what: str, names: set[str]) -> None:
    if names:
        raise _BadRequestError(f"{what}: {', '.join(sorted(names))}")


def _is_typed(name: str, value: object) -> bool:
    """Whether a value is of its field's type; JSON's true and false are no numbers."""
    allowed = _TYPES[name]
    return isinstance(value, allowed) and (not isinstance(value, bool) or bool in allowed)
