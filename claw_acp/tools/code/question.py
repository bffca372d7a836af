"""A call that asks a language server about a name in a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from claw_acp.contracts.code_servers import CodeServer, CodeServers
from claw_acp.contracts.tool import Access, CallView, Invocation, ReadsPath, RunsCommand, ToolContext
from claw_acp.core.events import Location, PartContent, ToolContent, ToolKind
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.tools.code.positions import position_of
from claw_acp.tools.display import shown_path
from claw_acp.tools.parameters import Parameters, argument

NO_SERVERS: Final = "There are no language servers in this session. Use grep and read_file."


class NameParameters(Parameters):
    """A name in a file."""

    path: str = argument(min_length=1, description="The file, absolute or relative to the session's directory.")
    line: int = argument(ge=1, description="The line in which the name stands, from 1.")
    name: str = argument(min_length=1, max_length=500, description="The name, as it stands in that line.")


class Question(Invocation):
    """Asks the server for a file, which is started for it.

    Raises:
        ToolError: There is none.
    """

    def __init__(self, path: str, *, title: str, context: ToolContext, kind: ToolKind, line: int | None = None) -> None:
        servers = context.needed(CodeServers, otherwise=NO_SERVERS)
        self.path = context.workspace.locate(path)
        self.shown = shown_path(self.path, workspace=context.workspace)
        self.context = context
        self.servers = servers
        self.server: CodeServer = servers.find(self.path)
        self.view = CallView(
            title=f"{title} {self.shown}", kind=kind, locations=(Location(path=str(self.path), line=line),)
        )
        self.accesses = (ReadsPath(path=self.path), *self.starting())

    def starting(self) -> tuple[Access, ...]:
        """The access of starting the server, where that runs code of the project."""
        return (RunsCommand(line=self.server.line, cwd=self.server.root),) if self.server.runs_code else ()

    async def preview(self) -> tuple[ToolContent, ...]:
        """The reason why a person is asked."""
        if not self.server.runs_code:
            return ()
        text = f"{self.server.name} may run code of this project: {self.server.why}. It runs until the session closes."
        return (PartContent(part=TextPart(text=text)),)

    async def text(self) -> str:
        """The present text of the file, with unsaved changes."""
        return await self.context.workspace.read_text(self.path)

    async def asked(self, method: str, params: JsonObject, *, texts: Mapping[Path, str]) -> JsonValue:
        """The answer of the server about the file, which has the first of these texts."""
        document: JsonObject = {"textDocument": {"uri": self.path.as_uri()}}
        return await self.servers.ask(self.server, method, {**document, **params}, texts=texts)


class NameQuestion(Question):
    """Asks about a name in a file."""

    verb = ""
    kind: ToolKind = "search"

    def __init__(self, parameters: NameParameters, *, context: ToolContext) -> None:
        title = f"{self.verb} {parameters.name} in"
        super().__init__(parameters.path, title=title, context=context, kind=self.kind, line=parameters.line)
        self.name = parameters.name
        self.line = parameters.line

    async def about_name(
        self, method: str, *, texts: Mapping[Path, str] | None = None, **further: JsonValue
    ) -> JsonValue:
        """The answer of the server about the name, if other files held these texts."""
        text = await self.text()
        position = position_of(self.name, line=self.line, text=text, shown=self.shown)
        shown = {self.path: text, **(texts or {})}
        return await self.asked(method, {"position": position, **further}, texts=shown)
