"""The running server, as the control interface sees it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from claw_acp.config.locations import Locations
from claw_acp.core.value import Record
from claw_acp.gateway.access.pairing import Pairing
from claw_acp.runtime.engine_host import EngineHost

if TYPE_CHECKING:
    from claw_acp.telemetry.metrics import Metrics


def _none() -> int:
    return 0


class ControlledServer(Record):
    """What control clients can see and do.

    Attributes:
        engine: The engine.
        stop: Ends the server.
        locations: Its directories.
        pairing: Codes that become tokens; None: it does not listen for remote clients.
        started_at: By the clock of the event loop.
        attached: Returns the number of programs on the socket.
        remote: Returns the number of ACP connections over the network.
        metrics: Its figures; None while they are being set up.
    """

    engine: EngineHost
    stop: Callable[[], None]
    locations: Locations
    pairing: Pairing | None
    started_at: float
    attached: Callable[[], int] = _none
    remote: Callable[[], int] = _none
    metrics: "Metrics | None" = None
