"""What the language servers of a session find in the changed files of one turn."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.codeintel.changed_files import ChangedFile, Changes, DeletedFile, moved, root_of
from claw_acp.codeintel.diagnostics_tool import NAME, Diagnostician, Diagnostics
from claw_acp.codeintel.language_server import LanguageServer, ServerFailed
from claw_acp.codeintel.problem import Problem, new_problems
from claw_acp.codeintel.rounds import Rounds
from claw_acp.codeintel.server_table import FoundServer, found_servers
from claw_acp.codeintel.session_servers import SessionServers
from claw_acp.contracts.tool import Invocation
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value

ANSWER_SECONDS: Final = 20.0
"""Seconds that a server has for all files of a turn, once it has started."""


class Job(Value):
    """The files of a turn that one server is asked about."""

    found: FoundServer
    root: Path
    files: tuple[ChangedFile, ...]
    deleted: tuple[DeletedFile, ...]


class Diagnosis:
    """Asks servers about the changes of one turn.

    Args:
        servers: Those of the session.
        roots: The directories of the session.
        rounds: Counts what the model is shown.
        changes: Returns the changes of the turn until now.
        decide: Returns the verdict of the policy about a call of a tool: allow, ask or deny.
        notify: Shows a person a notice: its title and its text.
    """

    def __init__(
        self,
        servers: SessionServers,
        *,
        roots: Sequence[Path],
        rounds: Rounds,
        changes: Callable[[], Awaitable[Changes]],
        decide: Callable[[str, Invocation], str],
        notify: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self.tool = Diagnostics(self, rounds=rounds)
        self._servers = servers
        self._roots = roots
        self._decide = decide
        self._notify = notify
        self._changes = changes
        self._jobs: Sequence[Job] = ()
        self._found: Sequence[Problem] = ()  # by servers that nobody has to be asked about
        self._is_fresh = False

    async def calls(self, changes: Changes) -> Sequence[JsonObject]:
        """Ask the servers that may be asked; returns the arguments of the calls to make."""
        asking = await self._ask_silently(changes)
        self._is_fresh = True
        return [*([{}] if self._found else []), *({"server": name} for name in asking)]

    def start_servers(self, paths: Iterable[Path]) -> None:
        """Start the servers for files that nobody has to be asked about, before they are needed."""
        for root, suffix in {(root, path.suffix) for path in paths if (root := root_of(path, self._roots)) is not None}:
            for found in found_servers(suffix, root=root, roots=self._roots):
                if not found.runs_project_code and self._servers.is_usable(found.kind.name):
                    self._servers.start(found, root=root, roots=self._roots)

    async def _ask_silently(self, changes: Changes) -> Sequence[str]:
        """Ask the servers that may be asked; returns those that a person has to be asked about."""
        self._jobs = _jobs(changes, roots=self._roots)
        silent, asking = self._sorted_jobs()
        self._found = await self._problems(silent)
        return asking

    def _sorted_jobs(self) -> tuple[Sequence[Job], Sequence[str]]:
        """The jobs that may be done unasked, and the servers that a person has to be asked about."""
        silent: list[Job] = []
        asking: dict[str, None] = {}
        for job in self._jobs:
            name = job.found.kind.name
            if not self._servers.is_usable(name):
                continue
            runs = not job.found.runs_project_code or self._servers.is_in_use(job.found, root=job.root)
            verdict = "allow" if runs else self._decide(NAME, self.tool.start(job.found))
            if verdict == "allow":
                silent.append(job)
            elif verdict == "ask":
                asking[name] = None
        return silent, tuple(asking)

    # ------------------------------------------------------------------ calls

    def find_server(self, name: str) -> FoundServer | None:
        """See `Diagnostician`."""
        return next((job.found for job in self._jobs if job.found.kind.name == name), None)

    def known(self) -> Sequence[Problem]:
        """See `Diagnostician`."""
        return self._found

    def ask_about(self, server: str) -> None:
        """See `Diagnostician`."""
        self._servers.refused.add(server)

    async def look(self, server: str | None) -> Sequence[Problem]:
        """See `Diagnostician`."""
        if server is None and not self._is_fresh:  # the model has made this call
            await self._ask_silently(await self._changes())
        if server is None:
            self._is_fresh = False
            return self._found
        self._servers.refused.discard(server)
        return await self._problems([job for job in self._jobs if job.found.kind.name == server])

    # ------------------------------------------------------------------ servers

    async def _problems(self, jobs: Sequence[Job]) -> Sequence[Problem]:
        """The new problems that servers find in the files of the turn."""
        found: dict[int, Sequence[Problem]] = {}

        async def do(index: int, job: Job) -> None:
            found[index] = await self._new_problems(job)

        async with anyio.create_task_group() as tasks:
            for index, job in enumerate(jobs):
                tasks.start_soon(do, index, job)
        return [problem for index in range(len(jobs)) for problem in found[index]]

    async def _new_problems(self, job: Job) -> Sequence[Problem]:
        async with self._servers.exclusive(job.found, root=job.root, roots=self._roots) as server:
            try:
                return await _compared(server, job)
            except ServerFailed as error:
                if await self._servers.fail(server):
                    title = f"What this turn changed was not checked by {server.name}"
                    await self._notify(title, f"{server.name} failed: {error}.")
                return ()
            finally:
                server.close_files()
        raise AssertionError("unreachable")  # pragma: no cover


async def _compared(server: LanguageServer, job: Job) -> Sequence[Problem]:
    """The problems that are in the files now and were not there before the turn.

    Raises:
        ServerFailed: The server did not answer.
    """
    changed = {**{file.path: True for file in job.files}, **{file.path: False for file in job.deleted}}
    now = {file.path: file.after for file in job.files}
    after = await server.diagnostics(now, changed=changed, within=ANSWER_SECONDS)
    old = {file.origin or file.path: file.before for file in job.files if file.before is not None}
    before: Sequence[Problem] = ()
    if after and old:
        before = await server.diagnostics(old, changed={}, within=ANSWER_SECONDS)
    return new_problems(after, before=moved(before, job.files))


def _jobs(changes: Changes, *, roots: Sequence[Path]) -> list[Job]:
    """One job for each server that a machine has for the changed files."""
    found: dict[tuple[str, Path], tuple[FoundServer, list[ChangedFile]]] = {}
    kinds = {(file.path.suffix, file.root) for file in changes.files}
    servers = {(suffix, root): tuple(found_servers(suffix, root=root, roots=roots)) for suffix, root in kinds}
    for file in changes.files:
        for server in servers[file.path.suffix, file.root]:
            found.setdefault((server.kind.name, file.root), (server, []))[1].append(file)
    return [
        Job(found=server, root=root, files=tuple(files), deleted=changes.deleted)
        for (_, root), (server, files) in found.items()
    ]


if TYPE_CHECKING:
    _conforms: type[Diagnostician] = Diagnosis
