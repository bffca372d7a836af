"""A server's tool as one of ours."""

import json
from typing import TYPE_CHECKING

from claw_acp.contracts.foreign_content import digest_of, marked, marked_failure, shown_arguments
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import (
    CallView,
    Invocation,
    Progress,
    Tool,
    ToolContext,
    ToolResult,
    ToolSource,
    UsesServer,
)
from claw_acp.contracts.workspace import RecordsOthers
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PartContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.mcp.server import Server
from claw_acp.mcp.server_catalog import OfferedTool

LONGEST_DESCRIPTION = 1024  # characters (OpenAI refuses more)
LONGEST_TITLE = 120
PROGRESS_EVERY = 0.2  # seconds between two pictures of a call under way; people read no faster


class ServerTool:
    """See `Tool`.

    Args:
        offered: The tool.
        name: Its name for models.
        schema: Describes its arguments to them.
        server: The server.
        altered: Whether it described itself otherwise when the session first saw it.
    """

    source: ToolSource = "mcp"

    def __init__(
        self, offered: OfferedTool, *, name: str, schema: JsonObject, server: Server, altered: bool = False
    ) -> None:
        self._offered = offered
        self._altered = altered
        self._server = server
        description = offered.description.strip() or offered.title or offered.name
        if len(description) > LONGEST_DESCRIPTION:
            description = f"{description[: LONGEST_DESCRIPTION - 1]}…"
        self.spec = ToolSpec(name=name, description=description, parameters=schema)
        self.parallel = offered.reads_only

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`. The arguments are checked by the server."""
        return _Calling(self._offered, arguments, server=self._server, context=context, altered=self._altered)


class _Calling(Invocation):
    def __init__(
        self, tool: OfferedTool, arguments: JsonObject, *, server: Server, context: ToolContext, altered: bool
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._server = server
        self._context = context
        self._shown_at = -PROGRESS_EVERY
        self._over = False
        title = printable(f"{server.name}: {tool.title or tool.name}")[:LONGEST_TITLE]
        self.view = CallView(title=title, kind="read" if tool.reads_only else "other")
        self.accesses = (
            UsesServer(
                server=server.name,
                tool=tool.name,
                reads_only=tool.reads_only,
                destroys=tool.destroys,
                altered=altered,
                digest=_digest(tool),
                description=tool.description,
            ),
        )

    async def preview(self) -> tuple[ToolContent, ...]:
        """The arguments."""
        return shown_arguments(self._arguments)

    async def run(self) -> ToolResult:
        """Have the server run it. Its answer is marked for the model as untrusted text.

        What it changes in the project is recorded like the changes of a command.
        """
        source, clock = f"the MCP server {self._server.name}", self._context.clock
        recorder = self._context.workspace
        if self._tool.reads_only or not isinstance(recorder, RecordsOthers):
            return await self._asked(source, clock)
        async with recorder.recording(json.dumps(self._arguments)):
            return await self._asked(source, clock)

    async def _asked(self, source: str, clock: Clock) -> ToolResult:
        try:
            result = await self._server.call(self._tool.name, self._arguments, on_progress=self._show)
        except ToolError as error:
            return marked_failure(error, source=source, clock=clock)
        finally:
            self._over = True
        return marked(result, source=source, clock=clock)

    async def _show(self, text: str) -> None:
        now = self._context.clock.monotonic()
        if not self._over and now - self._shown_at >= PROGRESS_EVERY:
            self._shown_at = now
            await self._context.progress(Progress(content=(PartContent(part=TextPart(text=text)),)))


def _digest(tool: OfferedTool) -> str:
    return digest_of(
        title=tool.title,
        description=tool.description,
        schema=tool.schema,
        reads_only=tool.reads_only,
        destroys=tool.destroys,
    )


if TYPE_CHECKING:
    _conforms: type[Tool] = ServerTool
