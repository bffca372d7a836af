"""The tool that shows what language servers find: its calls are made at the end of a turn, not offered to models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from claw_acp.codeintel.problem import Problem
from claw_acp.codeintel.rounds import Rounds, places
from claw_acp.codeintel.server_table import FoundServer
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, RunsCommand, Tool, ToolContext, ToolResult
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.events import PartContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart

NAME: Final = "diagnostics"

_CLEAN: Final = "No new problems."


class Diagnostician(Protocol):
    """Finds problems in the changed files of a turn."""

    def find_server(self, name: str) -> FoundServer | None:
        """The server of this name, if it is for one of those files."""
        ...

    def known(self) -> Sequence[Problem]:
        """The problems that are known already."""
        ...

    def ask_about(self, server: str) -> None:
        """Note that a person is asked about a server; that is a no until it runs."""
        ...

    async def look(self, server: str | None) -> Sequence[Problem]:
        """The new problems: those that one server finds, or those that are known."""
        ...


class Diagnostics:
    """Shows the problems that language servers find in the changed files of a turn."""

    spec = ToolSpec(
        name=NAME,
        description="Problems that this turn has brought into the files it changed. It runs by itself before you end.",
        parameters={"type": "object", "properties": {"server": {"type": "string"}}, "additionalProperties": False},
    )
    parallel = False

    def __init__(self, source: Diagnostician, *, rounds: Rounds) -> None:
        self._source = source
        self._rounds = rounds

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:  # noqa: ARG002 - it needs no port
        """See `Tool`."""
        name = arguments.get("server")
        if name is None:
            return Look(self._source, None, rounds=self._rounds)
        found = self._source.find_server(name) if isinstance(name, str) else None
        if found is None:
            raise InvalidArguments("There is no such language server here. Leave `server` out.")
        return Look(self._source, found, rounds=self._rounds)

    def start(self, found: FoundServer) -> Invocation:
        """The call that starts a server, for the policy to judge."""
        return Look(self._source, found, rounds=self._rounds)


class Look(Invocation):
    """One call. With a server, it starts that one."""

    def __init__(self, source: Diagnostician, found: FoundServer | None, *, rounds: Rounds) -> None:
        self._source = source
        self._found = found
        self._rounds = rounds
        if found is None:
            self.view = CallView(title="Problems in what was changed", kind="read", locations=places(source.known()))
            return
        self.view = CallView(title=f"Check what was changed with {found.kind.name}", kind="execute")
        if found.runs_project_code:
            self.accesses = (RunsCommand(line=found.line, cwd=rounds.root),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The reason why a person is asked."""
        if self._found is None:
            return ()
        self._source.ask_about(self._found.kind.name)
        why = self._found.kind.why or "it comes with the project"
        text = f"{self._found.kind.name} may run code of this project: {why}. It runs until the session is closed."
        return (PartContent(part=TextPart(text=text)),)

    async def run(self) -> ToolResult:
        """Look for problems."""
        problems = await self._source.look(None if self._found is None else self._found.kind.name)
        return self._rounds.result(problems, clean=_CLEAN)


if TYPE_CHECKING:
    _conforms: type[Tool] = Diagnostics
