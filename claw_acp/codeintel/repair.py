"""The check of one turn before it ends: problems that it brought are shown to the model, within a bound."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from claw_acp.codeintel.changed_files import Changes, changes_of_turn
from claw_acp.codeintel.check_table import SUFFIXES as CHECKED
from claw_acp.codeintel.check_tool import NAME as CHECK
from claw_acp.codeintel.check_tool import ProjectCheck
from claw_acp.codeintel.diagnosis import Diagnosis
from claw_acp.codeintel.diagnostics_tool import NAME as DIAGNOSTICS
from claw_acp.codeintel.problem import Problem, listed
from claw_acp.codeintel.rounds import Rounds
from claw_acp.codeintel.server_table import KINDS
from claw_acp.codeintel.session_servers import SessionServers
from claw_acp.contracts.hook import CONTINUE, AfterTool, Hook, HookContext, HookEvent, HookResult, TurnEnding
from claw_acp.contracts.tool import Invocation, Tool
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall
from claw_acp.rpc.message import encode
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore

SUFFIXES: Final = CHECKED | frozenset(suffix for kind in KINDS for suffix in kind.languages)

_MOST_LEFT: Final = 5  # problems in a notice


class Repair:
    """See `Hook`. Language servers come first, and the checks of the project once those find nothing.

    Args:
        session: The session.
        workspace: Its files, as the editor shows them.
        store: Has the contents from before the turn.
        servers: Its language servers.
        checks: Run the project's own checks, too.
        decide: Returns the verdict of the policy about a call of a tool: allow, ask or deny.
        clock: Makes ids.
    """

    def __init__(
        self,
        session: Session,
        *,
        workspace: Workspace,
        store: ContentStore,
        servers: SessionServers,
        checks: bool,
        decide: Callable[[str, Invocation], str],
        clock: Clock,
    ) -> None:
        self._session = session
        self._workspace = workspace
        self._store = store
        self._clock = clock
        self._stages = ("diagnostics", "checks") if checks else ("diagnostics",)
        self._calling = False  # whether calls of it ran at the last end of the turn
        self._ahead: Sequence[str] = ()  # stages for the present changes
        self._changes = Changes()
        self._rounds = Rounds(workspace.roots[0])
        self._check = ProjectCheck(rounds=self._rounds, refused=servers.refused)
        self._diagnosis = Diagnosis(
            servers,
            roots=workspace.roots,
            rounds=self._rounds,
            changes=self._changes_now,
            decide=decide,
            notify=self._notify,
        )

    name = "check of changes"
    priority = 100
    events = (AfterTool, TurnEnding)

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools whose calls it has run."""
        return self._diagnosis.tool, self._check

    async def on(self, event: HookEvent, context: HookContext) -> HookResult:  # noqa: ARG002 - the contract's
        """See `Hook`. After a call servers start, as that takes time; the end of a turn waits for the checks."""
        if isinstance(event, AfterTool):
            self._start_servers()
        elif isinstance(event, TurnEnding):
            ran, self._calling = self._calling, False
            if ran and self._rounds.take_news():
                return HookResult(cancel="")
            calls = tuple(await self._calls_before_end())
            self._calling = bool(calls)
            return HookResult(calls=calls)
        return CONTINUE

    def _start_servers(self) -> None:
        self._diagnosis.start_servers(map(Path, self._session.history.pending_files.before))

    async def _changes_now(self) -> Changes:
        return await changes_of_turn(self._session, workspace=self._workspace, store=self._store, suffixes=SUFFIXES)

    async def _calls_before_end(self) -> Sequence[ToolCall]:
        self._rounds.begin()
        changes = await self._changes_now()
        if changes != self._changes:
            self._changes, self._rounds.shown = changes, ()
            self._ahead = self._stages
        while self._ahead and not self._rounds.used_up:
            stage, *self._ahead = self._ahead
            if calls := await self._calls(stage):
                return calls
        left = self._rounds.shown
        if self._ahead and self._rounds.used_up:
            self._ahead = ()
            await self._diagnosis.calls(changes)
            left = self._diagnosis.known()
        await self._tell_left(left)
        return ()

    async def _calls(self, stage: str) -> Sequence[ToolCall]:
        if stage == "diagnostics":
            return [self._call(DIAGNOSTICS, given) for given in await self._diagnosis.calls(self._changes)]
        checks = await self._check.calls(self._changes, roots=self._workspace.roots)
        return [self._call(CHECK, given) for given in checks]

    def _call(self, name: str, arguments: JsonObject) -> ToolCall:
        return ToolCall(id=new_id("call", clock=self._clock), name=name, arguments=encode(arguments).decode())

    async def _tell_left(self, problems: Sequence[Problem]) -> None:
        if problems:
            number = "A new problem is" if len(problems) == 1 else f"{len(problems)} new problems are"
            text = listed(problems[:_MOST_LEFT], root=self._rounds.root)
            await self._notify(f"{number} left in what this turn changed", text)

    async def _notify(self, title: str, description: str) -> None:
        notice_id = new_id("ntc", clock=self._clock)
        await self._session.publish(Notice(item=notice_id, severity="warning", title=title, description=description))


if TYPE_CHECKING:
    _conforms: type[Hook] = Repair
