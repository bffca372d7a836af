"""The loop of one turn that shows a model the problems it has brought into files, within a bound."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.codeintel.changed_files import ChangedFile, Changes, changes_of_turn
from claw_acp.codeintel.diagnostics_tool import NAME, Diagnostics
from claw_acp.codeintel.language_server import LanguageServer, ServerFailed
from claw_acp.codeintel.problem import Problem, listed, new_problems
from claw_acp.codeintel.server_table import KINDS, FoundServer, found_servers
from claw_acp.codeintel.session_servers import SessionServers
from claw_acp.contracts.hook import TurnEndHook
from claw_acp.contracts.tool import Invocation, Tool
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall
from claw_acp.core.value import Value
from claw_acp.rpc.message import encode
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore

MOST_ROUNDS: Final = 3
"""Times in a turn that a model is shown problems."""

ANSWER_SECONDS: Final = 20.0
"""Seconds that a server has for all files of a turn, once it has started."""

SUFFIXES: Final = frozenset(suffix for kind in KINDS for suffix in kind.languages)


class Job(Value):
    """The files of a turn that one server is asked about."""

    found: FoundServer
    root: Path
    files: tuple[ChangedFile, ...]
    deleted: tuple[Path, ...]


class Repair:
    """The problems of one turn. See `TurnEndHook`.

    Args:
        session: The session.
        workspace: Its files, as the editor shows them.
        store: Has the contents from before the turn.
        servers: Its language servers.
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
        decide: Callable[[str, Invocation], str],
        clock: Clock,
    ) -> None:
        self._session = session
        self._workspace = workspace
        self._store = store
        self._servers = servers
        self._decide = decide
        self._clock = clock
        self._tool = Diagnostics(self)
        self._jobs: Sequence[Job] = ()
        self._changes = Changes()
        self._found: list[Problem] = []  # by servers that nobody has to be asked about
        self._reported: list[Problem] = []
        self._rounds = 0

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools whose calls `before_end` returns."""
        return (self._tool,)

    # ------------------------------------------------------------------ the end of a turn

    async def before_end(self) -> Sequence[ToolCall]:
        """See `TurnEndHook`."""
        changes = await changes_of_turn(self._session, workspace=self._workspace, store=self._store, suffixes=SUFFIXES)
        if changes == self._changes:  # the model has seen what there is, and lets it be
            await self._tell_left(self._reported)
            return ()
        self._changes, self._reported = changes, []
        self._jobs = _jobs(changes, roots=self._workspace.roots)
        silent, asking = self._sorted_jobs()
        self._found = await self._problems(silent)
        if self._rounds == MOST_ROUNDS:
            await self._tell_left(self._found)
            return ()
        calls = [self._call({})] if self._found else []
        return [*calls, *(self._call({"server": name}) for name in asking)]

    def has_news(self) -> bool:
        """See `TurnEndHook`."""
        self._rounds += bool(self._reported)
        return bool(self._reported)

    def _sorted_jobs(self) -> tuple[Sequence[Job], Sequence[str]]:
        """The jobs that may be done unasked, and the servers that a person has to be asked about."""
        silent: list[Job] = []
        asking: dict[str, None] = {}
        for job in self._jobs:
            name = job.found.kind.name
            if not self._servers.is_usable(name):
                continue
            runs = not job.found.runs_project_code or self._servers.is_running(name, root=job.root)
            verdict = "allow" if runs else self._decide(NAME, self._tool.look(job.found))
            if verdict == "allow":
                silent.append(job)
            elif verdict == "ask":
                asking[name] = None
        return silent, tuple(asking)

    def _call(self, arguments: JsonObject) -> ToolCall:
        return ToolCall(id=new_id("call", clock=self._clock), name=NAME, arguments=encode(arguments).decode())

    # ------------------------------------------------------------------ calls

    @property
    def root(self) -> Path:
        """See `DiagnosticsSource`."""
        return self._workspace.roots[0]

    @property
    def rounds_left(self) -> int:
        """See `DiagnosticsSource`."""
        return MOST_ROUNDS - self._rounds - 1

    def find_server(self, name: str) -> FoundServer | None:
        """See `DiagnosticsSource`."""
        return next((job.found for job in self._jobs if job.found.kind.name == name), None)

    def known(self) -> Sequence[Problem]:
        """See `DiagnosticsSource`."""
        return self._found

    def ask_about(self, server: str) -> None:
        """See `DiagnosticsSource`."""
        self._servers.refused.add(server)

    async def look(self, server: str | None) -> Sequence[Problem]:
        """See `DiagnosticsSource`."""
        found: Sequence[Problem] = self._found
        if server is not None:
            self._servers.refused.discard(server)
            found = await self._problems([job for job in self._jobs if job.found.kind.name == server])
        self._reported = [*self._reported, *found]
        return found

    # ------------------------------------------------------------------ servers

    async def _problems(self, jobs: Sequence[Job]) -> list[Problem]:
        """The new problems that servers find in the files of the turn."""
        found: dict[int, list[Problem]] = {}

        async def do(index: int, job: Job) -> None:
            found[index] = await self._new_problems(job)

        async with anyio.create_task_group() as tasks:
            for index, job in enumerate(jobs):
                tasks.start_soon(do, index, job)
        return [problem for index in range(len(jobs)) for problem in found[index]]

    async def _new_problems(self, job: Job) -> list[Problem]:
        server = self._servers.get(job.found, root=job.root, roots=self._workspace.roots)
        try:
            return await _compared(server, job)
        except ServerFailed as error:
            if await self._servers.fail(server):
                title = f"What this turn changed was not checked by {server.name}"
                await self._notify(title, f"{server.name} failed: {error}.")
            return []
        finally:
            server.close_files()

    async def _tell_left(self, problems: Sequence[Problem]) -> None:
        if problems:
            number = "a new problem is" if len(problems) == 1 else f"{len(problems)} new problems are"
            title = f"After {self._rounds} rounds of repair, {number} left in the changed files"
            await self._notify(title if self._rounds > 1 else f"{number.capitalize()} left in the changed files",
                               listed(problems[:5], root=self.root))  # fmt: skip

    async def _notify(self, title: str, description: str) -> None:
        notice_id = new_id("ntc", clock=self._clock)
        await self._session.publish(Notice(item=notice_id, severity="warning", title=title, description=description))


async def _compared(server: LanguageServer, job: Job) -> list[Problem]:
    """The problems that are in the files now and were not there before the turn.

    Raises:
        ServerFailed: The server did not answer.
    """
    changed = {**{file.path: True for file in job.files}, **dict.fromkeys(job.deleted, False)}
    after = await server.diagnostics(
        {file.path: file.after for file in job.files}, changed=changed, within=ANSWER_SECONDS
    )
    if not after:
        return []
    old = {file.path: file.before for file in job.files if file.before is not None}
    before: Sequence[Problem] = ()
    if old:
        before = await server.diagnostics(old, changed={}, within=ANSWER_SECONDS)
    return new_problems(after, before=before)


def _jobs(changes: Changes, *, roots: Sequence[Path]) -> list[Job]:
    """One job for each server that a machine has for the changed files."""
    found: dict[tuple[str, Path], tuple[FoundServer, list[ChangedFile]]] = {}
    for file in changes.files:
        for server in found_servers(file.path.suffix, root=file.root, roots=roots):
            found.setdefault((server.kind.name, file.root), (server, []))[1].append(file)
    return [
        Job(found=server, root=root, files=tuple(files), deleted=changes.deleted)
        for (_, root), (server, files) in found.items()
    ]


if TYPE_CHECKING:
    _conforms: type[TurnEndHook] = Repair
