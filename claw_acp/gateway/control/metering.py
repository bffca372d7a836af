"""The metrics of a server: events of all sessions are counted, and the state of its parts is shown."""

from collections.abc import Callable

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.runtime.live_session import LiveSession
from claw_acp.telemetry.metrics import Gauge, Metrics, SessionMeter


async def start_metering(server: ControlledServer) -> None:
    """Count from now on.

    Raises:
        ClawError: The engine did not start.
    """
    live_sessions = (await server.engine.engine()).shared.live

    def total(figure: Callable[[LiveSession], int]) -> Callable[[], float]:
        return lambda: sum(map(figure, live_sessions))

    gauges = {
        "sessions_open": Gauge(about="Sessions in use.", value=total(lambda _live: 1)),
        "turns_running": Gauge(about="Sessions with a running turn.", value=total(lambda live: bool(live.turns))),
        "prompts_waiting": Gauge(
            about="Prompts behind a running turn.", value=total(lambda live: max(0, len(live.turns) - 1))
        ),
        "questions_waiting": Gauge(
            about="Questions that wait for a person.", value=total(lambda live: len(live.questions))
        ),
        "programs_attached": Gauge(about="Programs on the Unix socket.", value=server.attached),
        "connections_remote": Gauge(about="ACP connections over the network.", value=server.remote),
    }
    metrics = Metrics(SYSTEM_CLOCK, gauges)

    def watch(live: LiveSession) -> None:
        live.session.subscribers.observers += (SessionMeter(metrics, lambda: live.session.record.model),)

    for live in live_sessions:
        watch(live)
    live_sessions.on_opened = watch
    server.metrics = metrics
