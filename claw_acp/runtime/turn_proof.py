"""The check of what a turn has changed. It is loaded at the end of the first turn that has changed something."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.agent.gate import Gate
from claw_acp.contracts.hook import CONTINUE, AfterTool, Hook, HookContext, HookEvent, HookResult, TurnEnding
from claw_acp.contracts.tool import Invocation, Tool
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSession
from claw_acp.store.contents import ContentStore

log = logging.getLogger(__name__)


class ToolsAtEnd(Hook, Protocol):
    """A hook with the tools that its calls are of."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools, which models are not offered."""
        ...


REPAIR: Final = Ref[Callable[..., ToolsAtEnd]]("claw_acp.codeintel.repair:Repair")
POOL: Final = Ref[Callable[[TaskGroup], object]]("claw_acp.codeintel.session_servers:ServerPool")
QUESTIONS: Final = Ref[Callable[..., object]]("claw_acp.codeintel.questions:Questions")
SERVERS: Final = Ref[Callable[..., object]]("claw_acp.codeintel.session_servers:SessionServers.on")


class TurnProof:
    """The check at the end of one turn. See `Hook`.

    Args:
        live: The session.
        workspace: Its files, as the editor shows them.
        store: Has the contents from before the turn.
        gate: Decides what may run.
        servers: Returns the language servers that run.
        confine: Returns the sandbox of one that is started.
        tasks: Starts them early.
        clock: Makes ids.
    """

    def __init__(
        self,
        live: LiveSession,
        *,
        workspace: Workspace,
        store: ContentStore,
        gate: Gate,
        servers: Callable[[], object],
        confine: Callable[[], Awaitable[object]],
        tasks: TaskGroup,
        clock: Clock,
    ) -> None:
        self._live = live
        self._workspace = workspace
        self._store = store
        self._gate = gate
        self._servers = servers
        self._confine = confine
        self._tasks = tasks
        self._started = False
        self._clock = clock
        self._repair: ToolsAtEnd | None = None

    name = "check of changes"
    priority = 100
    events = (AfterTool, TurnEnding)

    def tools(self) -> Sequence[Tool]:
        """The tools that the check calls."""
        return () if self._repair is None else self._repair.tools

    async def on(self, event: HookEvent, context: HookContext) -> HookResult:
        """See `Hook`. Language servers start while the model goes on."""
        if not self._is_wanted:
            return CONTINUE
        if isinstance(event, TurnEnding):
            return await self._made().on(event, context)
        if not self._started:
            self._started = True
            self._tasks.start_soon(self._start_servers, event, context, name="language servers")
        return CONTINUE

    async def _start_servers(self, event: HookEvent, context: HookContext) -> None:
        try:
            await to_thread.run_sync(REPAIR.load, abandon_on_cancel=True)
            if self._live.closed is None:
                await self._made().on(event, context)
        except Exception:  # the hook wall: without them now, they start when they are needed
            log.exception("language servers not started early", extra={"session": self._live.session.id})

    @property
    def _is_wanted(self) -> bool:
        """True if this turn has changed files, and that is to be checked."""
        history = self._live.session.history
        changed = history.pending_files.turn == history.turns.latest and bool(history.pending_files.before)
        return changed and self._live.settings.repair != "off"

    def _made(self) -> ToolsAtEnd:
        if self._repair is None:
            session = self._live.session
            self._repair = REPAIR.load()(
                session,
                workspace=self._workspace,
                store=self._store,
                servers=self._session_servers(),
                checks=self._live.settings.repair == "checks",
                decide=self._verdict,
                clock=self._clock,
            )
        return self._repair

    def questions(self) -> object:
        """Return what asks language servers for tools."""
        return QUESTIONS.load()(self._session_servers(), session=self._live.session)

    def _session_servers(self) -> object:
        return SERVERS.load()(self._live.session.tool_state, pool=self._servers(), confine=self._confine)

    def _verdict(self, tool: str, invocation: Invocation) -> str:
        return self._gate.decide(tool, invocation).verdict


if TYPE_CHECKING:
    _conforms: type[Hook] = TurnProof
