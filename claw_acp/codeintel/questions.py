"""Questions of tools about code, which the language servers of a session answer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from claw_acp.codeintel.changed_files import root_of
from claw_acp.codeintel.language_server import LanguageServer, ServerFailed, ServerRefused
from claw_acp.codeintel.problem import listed
from claw_acp.codeintel.server_table import FoundServer, found_servers
from claw_acp.codeintel.session_servers import SessionServers
from claw_acp.contracts.code_servers import CodeServer, CodeServers
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.session.session import Session

WITHIN: Final = 60.0
"""Seconds for an answer, once the server has started: at first it may read the whole project."""

_T = TypeVar("_T")


class Questions(CodeServers):
    """Asks servers about the code of a session. One that runs no code of the project is started when it is asked.

    Args:
        servers: Those of the session.
        session: The session.
    """

    def __init__(self, servers: SessionServers, *, session: Session) -> None:
        self._servers = servers
        self._session = session

    def find(self, path: Path) -> CodeServer:
        """See `CodeServers`."""
        root = root_of(path, self._session.roots)
        if root is None:
            raise ToolError(
                f"{path} is none of the project's own sources; language servers are asked about those only."
            )
        found = self._found(path.suffix, root)
        if found is None:
            raise ToolError(
                f"This machine has no language server for {path.suffix or 'such'} files that can be asked. "
                "Use grep and read_file."
            )
        if not self._servers.is_usable(found.kind.name):
            raise ToolError(f"{found.kind.name} is not used any more in this session. Use grep and read_file.")
        runs_code = found.runs_project_code and not self._servers.is_in_use(found, root=root)
        why = found.kind.why or "it comes with the project"
        kind = found.kind
        return CodeServer(
            name=kind.name, root=root, suffixes=frozenset(kind.languages), line=found.line, runs_code=runs_code, why=why
        )

    async def ask(self, server: CodeServer, method: str, params: JsonObject, *, texts: Mapping[Path, str]) -> JsonValue:
        """See `CodeServers`."""

        async def answered(running: LanguageServer) -> JsonValue:
            return await running.ask(method, params, texts=texts, changed=self._changed(), within=WITHIN)

        return await self._attend(server, next(iter(texts)), answered)

    async def problems(self, server: CodeServer, path: Path, text: str) -> str:
        """See `CodeServers`."""

        async def answered(running: LanguageServer) -> str:
            found = await running.diagnostics({path: text}, changed=self._changed(), within=WITHIN)
            return listed(found, root=server.root)

        return await self._attend(server, path, answered)

    async def _attend(self, server: CodeServer, path: Path, answered: Callable[[LanguageServer], Awaitable[_T]]) -> _T:
        found = self._found(path.suffix, server.root)
        if found is None:
            raise ToolError(f"{server.name} is not there any more.")
        roots: Sequence[Path] = self._session.roots
        async with self._servers.exclusive(found, root=server.root, roots=roots) as running:
            try:
                return await answered(running)
            except ServerRefused as error:
                raise ToolError(f"{server.name} says: {error}.") from error
            except ServerFailed as error:
                await self._servers.fail(running)
                raise ToolError(f"{server.name} failed: {error}. Use grep and read_file.") from error
            finally:
                running.close_files()
        raise AssertionError("unreachable")  # pragma: no cover

    def _found(self, suffix: str, root: Path) -> FoundServer | None:
        found = found_servers(suffix, root=root, roots=self._session.roots)
        return next((each for each in found if each.kind.navigates), None)

    def _changed(self) -> Mapping[Path, bool]:
        """The files that were changed in the last turns; false: they are gone."""
        paths = map(Path, self._session.history.pending_files.before)
        return {path: path.exists() for path in paths}
