"""The services that tools find in every turn, besides those of the session's extensions."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, cast

from claw_acp.config.locations import Locations
from claw_acp.contracts.hook import ToolHook
from claw_acp.contracts.schedule import Schedules
from claw_acp.core.clock import Clock
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.extension import SessionExtension

SESSION_SCHEDULES: Final[Ref[Callable[..., Schedules]]] = Ref("claw_acp.schedule.session_schedules:SessionSchedules")

_P = TypeVar("_P")


class TurnServices(SessionExtension):
    """The extensions of a session as a turn needs them, and the services of the house.

    Args:
        live: The session.
        locations: Our own directories.
        clock: Time.
    """

    def __init__(self, live: LiveSession, *, locations: Locations, clock: Clock) -> None:
        self._live = live
        self._locations = locations
        self._clock = clock

    def hooks(self) -> Sequence[ToolHook]:
        """The hooks of the extensions."""
        return self._live.extensions.hooks()

    def port(self, kind: type[_P]) -> _P | None:
        """The service of this type, loaded when a tool needs it."""
        if kind is Schedules:
            session = self._live.origin.session  # an attempt works in a copy, which goes
            made = SESSION_SCHEDULES.load()(
                self._locations, session=session.id, project=str(session.roots[0]), clock=self._clock
            )
            return cast("_P", made)
        return self._live.extensions.port(kind)
