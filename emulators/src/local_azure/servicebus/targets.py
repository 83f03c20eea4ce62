"""What faults can befall: the operations by name, and the actions that have an effect on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from local_azure.faults import Delay, Drop, Fail, Hang, Lapse, Overtake, Targets
from local_azure.servicebus.nodes.gate import DELIVER
from local_azure.servicebus.nodes.management.node import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from local_azure.faults import Action

_ALL: Final = frozenset({Drop, Delay, Hang, Fail})
_LAPSING: Final = (
    *("send", "schedule-message", "complete", "abandon", "defer", "dead_letter", "release"),
    *("renew", "renew-session-lock", "get-session-state", "set-session-state"),
)

_BEFALLEN: Final[Mapping[str, Set[type[Action]]]] = {
    **dict.fromkeys(("authenticate", "attach", *OPERATIONS), _ALL),
    **dict.fromkeys(_LAPSING, _ALL | {Lapse}),
    DELIVER: _ALL | {Lapse, Overtake},
}

TARGETS: Final = Targets(operations=_BEFALLEN, code=str)
