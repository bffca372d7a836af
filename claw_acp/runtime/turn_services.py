"""The services that tools find in every turn, besides those of the session's extensions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar, cast

from claw_acp.config.locations import Locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.delegation import BACKGROUND_TASKS, Delegation
from claw_acp.contracts.schedule import Schedules
from claw_acp.contracts.tool_catalog import ToolCatalog
from claw_acp.core.clock import Clock
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.extension import Notes, SessionExtension

BROWSING: Final[Ref[type]] = Ref("claw_acp.contracts.web:Browsing")
CODE_PORT: Final[Ref[type]] = Ref("claw_acp.contracts.code_servers:CodeServers")
WEB_PORTS: Final[Sequence[tuple[Ref[type], Ref[Callable[..., object]]]]] = (
    (
        Ref[type]("claw_acp.contracts.web:SearchServices"),
        Ref[Callable[..., object]]("claw_acp.runtime.web_services:search_services"),
    ),
    (
        Ref[type]("claw_acp.contracts.web:NamedSecrets"),
        Ref[Callable[..., object]]("claw_acp.runtime.web_services:named_secrets"),
    ),
)
SESSION_SCHEDULES: Final[Ref[Callable[..., Schedules]]] = Ref("claw_acp.schedule.session_schedules:SessionSchedules")

if TYPE_CHECKING:
    from claw_acp.runtime.background_tasks import SessionBackground

_LOOKED_FOR: Final = "background tasks looked for"

_P = TypeVar("_P")


class TurnServices(SessionExtension):
    """The extensions of a session as a turn needs them, and the services of the house.

    Args:
        live: The session.
        locations: Our own directories.
        clock: Time.
        catalog: The tools that the model can find.
        delegation: Makes what gives the tasks of the turn to subagents.
        background: Returns the background tasks of the session.
        secrets: Reads keys that take time to get.
        code: Makes what asks language servers.
        browsing: Makes what a browser needs.
    """

    def __init__(
        self, live: LiveSession, *, locations: Locations, clock: Clock, catalog: ToolCatalog,
        delegation: "Callable[[], Delegation]", secrets: SecretCache, code: Callable[[], object],
        browsing: Callable[[], object],
        background: "Callable[[], SessionBackground]",
    ) -> None:  # fmt: skip
        self._live = live
        self._locations = locations
        self._clock = clock
        self._catalog = catalog
        self._delegation = Lazy(delegation)
        self._background = background
        self._secrets = secrets
        self._code = code
        self._browsing = browsing

    async def notes(self, prompt: str) -> Notes:
        """Those of the session's extensions, and the reports of tasks that have ended in the background."""
        notes, live = await self._live.extensions.notes(prompt), self._live
        known = live.session.tool_state.items
        if BACKGROUND_TASKS not in known:
            opened_again = live.origin is live and bool(live.session.history.messages())
            if _LOOKED_FOR in known or not opened_again:
                known[_LOOKED_FOR] = True
                return notes
        reports = await self._background().new_reports()
        text = "\n".join(text for text in (notes.text, reports.text) if text)
        return Notes(text=text, sources=(*notes.sources, *reports.sources))

    def port(self, kind: type[_P]) -> _P | None:
        """The service of this type, loaded when a tool needs it."""
        if kind is ToolCatalog:
            return cast("_P", self._catalog)
        if kind is Schedules:
            session = self._live.origin.session  # an attempt works in a copy, which goes
            made = SESSION_SCHEDULES.load()(
                self._locations, session=session.id, project=str(session.roots[0]), clock=self._clock
            )
            return cast("_P", made)
        if kind is Delegation:
            return cast("_P", self._delegation())
        if kind is CODE_PORT.load():
            return cast("_P", self._code())
        if kind is BROWSING.load():
            return cast("_P", self._browsing())
        for port, make in WEB_PORTS:
            if kind is port.load():
                return cast("_P", make.load()(self._live.settings, self._secrets))
        return self._live.extensions.port(kind)
