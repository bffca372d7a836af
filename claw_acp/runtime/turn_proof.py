"""The check of what a turn has changed. It is loaded at the end of the first turn that has changed something."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from anyio.abc import TaskGroup

from claw_acp.agent.gate import Gate
from claw_acp.contracts.hook import TurnEndHook
from claw_acp.contracts.tool import Invocation, Tool
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.core.messages import ToolCall
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSession
from claw_acp.store.contents import ContentStore


class ToolsAtEnd(TurnEndHook, Protocol):
    """A hook with the tools that its calls are of."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools, which models are not offered."""
        ...


REPAIR: Final = Ref[Callable[..., ToolsAtEnd]]("claw_acp.codeintel.repair:Repair")
SERVERS: Final = Ref[Callable[..., object]]("claw_acp.codeintel.session_servers:SessionServers.on")


class TurnProof:
    """The check at the end of one turn. See `TurnEndHook`.

    Args:
        live: The session.
        workspace: Its files, as the editor shows them.
        store: Has the contents from before the turn.
        gate: Decides what may run.
        tasks: Runs language servers.
        clock: Makes ids.
    """

    def __init__(
        self,
        live: LiveSession,
        *,
        workspace: Workspace,
        store: ContentStore,
        gate: Gate,
        tasks: TaskGroup,
        clock: Clock,
    ) -> None:
        self._live = live
        self._workspace = workspace
        self._store = store
        self._gate = gate
        self._tasks = tasks
        self._clock = clock
        self._repair: ToolsAtEnd | None = None

    def tools(self) -> Sequence[Tool]:
        """The tools that the check calls."""
        return () if self._repair is None else self._repair.tools

    async def before_end(self) -> Sequence[ToolCall]:
        """See `TurnEndHook`."""
        session = self._live.session
        pending, turns = session.history.pending_files, session.history.turns
        if self._live.settings.repair == "off" or pending.turn != turns.latest or not pending.before:
            return ()
        if self._repair is None:
            self._repair = REPAIR.load()(
                session,
                workspace=self._workspace,
                store=self._store,
                servers=SERVERS.load()(session.tool_state, tasks=self._tasks),
                checks=self._live.settings.repair == "checks",
                decide=self._verdict,
                clock=self._clock,
            )
        return await self._repair.before_end()

    def has_news(self) -> bool:
        """See `TurnEndHook`."""
        return self._repair is not None and self._repair.has_news()

    def _verdict(self, tool: str, invocation: Invocation) -> str:
        return self._gate.decide(tool, invocation).verdict


if TYPE_CHECKING:
    _conforms: type[TurnEndHook] = TurnProof
