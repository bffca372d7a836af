"""The running server, as the control interface sees it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from claw_acp.config.locations import Locations
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Record
from claw_acp.gateway.access.pairing import Pairing
from claw_acp.runtime.engine_host import EngineHost

if TYPE_CHECKING:
    from claw_acp.telemetry.metrics import Metrics


def _none() -> int:
    return 0


def _no_rows() -> Sequence[JsonObject]:
    return ()


class ControlledServer(Record):
    """The server with all that control clients can see and do.

    Attributes:
        engine: The engine.
        stop: Ends the server.
        locations: Its directories.
        pairing: Codes that become tokens; None: it does not listen for remote clients.
        started_at: By the clock of the event loop.
        attached: Returns the number of programs on the socket.
        remote: Returns the number of ACP connections over the network.
        programs: Returns the attached programs.
        supervised: Returns the programs of the configuration.
        metrics: Its figures; None while they are being set up.
        url: The address of its page; empty if it does not listen for remote clients.
    """

    engine: EngineHost
    stop: Callable[[], None]
    locations: Locations
    pairing: Pairing | None
    started_at: float
    attached: Callable[[], int] = _none
    remote: Callable[[], int] = _none
    programs: Callable[[], Sequence[JsonObject]] = _no_rows
    supervised: Callable[[], Sequence[JsonObject]] = _no_rows
    metrics: "Metrics | None" = None
    url: str = ""
