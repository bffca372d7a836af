"""Two tools that read the resources of servers; present if any server has some."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from claw_acp.contracts.foreign_content import marked, marked_failure
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, Tool, ToolContext, ToolResult, UsesServer
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.mcp.server import Server
from claw_acp.mcp.server_catalog import OfferedResource

LIST = "mcp_list_resources"
READ = "mcp_read_resource"
MOST_LISTED = 200  # resources of one answer
LONGEST_DESCRIPTION = 200  # characters of each

_SERVER: JsonObject = {"type": "string", "description": "The server's name."}


class ListResources:
    """Lists what can be read. It changes nothing and needs no permission."""

    parallel = True

    def __init__(self, servers: Callable[[], Sequence[Server]]) -> None:
        self._servers = servers
        self.spec = ToolSpec(
            name=LIST,
            description="List the resources (documents, records) that MCP servers offer, and patterns of their URIs.",
            parameters={"type": "object", "properties": {"server": _SERVER}},
        )

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        name = _text(arguments, "server", tool=LIST, required=False)
        servers = self._servers()
        return _Listing([_named(name, servers)] if name else servers, context=context)


class _Listing(Invocation):
    def __init__(self, servers: Sequence[Server], *, context: ToolContext) -> None:
        self._servers = servers
        self._context = context
        self.view = CallView(title=f"List resources of {', '.join(server.name for server in servers)}", kind="search")

    async def run(self) -> ToolResult:
        """Ask each server; one that does not answer is mentioned, not fatal."""
        sections: list[str] = []
        failures = 0
        for server in self._servers:
            try:
                lines = _lines(await server.resources())
            except ToolError as error:
                failures += 1
                lines = [error.message]
            sections.append("\n".join([f"Server {server.slug}:", *lines]))
        result = ToolResult(
            parts=(TextPart(text="\n\n".join(sections)),), failed=bool(self._servers) and failures == len(self._servers)
        )
        return marked(result, source="MCP servers", clock=self._context.clock)


class ReadResource:
    """Reads one resource."""

    parallel = True

    def __init__(self, servers: Callable[[], Sequence[Server]]) -> None:
        self._servers = servers
        self.spec = ToolSpec(
            name=READ,
            description=f"Read a resource of an MCP server by its URI, as {LIST} names it or as its pattern allows.",
            parameters={
                "type": "object",
                "properties": {"server": _SERVER, "uri": {"type": "string", "description": "The resource's URI."}},
                "required": ["server", "uri"],
            },
        )

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        name = _text(arguments, "server", tool=READ)
        uri = _text(arguments, "uri", tool=READ)
        return _Reading(_named(name, self._servers()), uri, context=context)


class _Reading(Invocation):
    def __init__(self, server: Server, uri: str, *, context: ToolContext) -> None:
        self._server = server
        self._uri = uri
        self._context = context
        self.view = CallView(title=printable(f"{server.name}: read {uri}")[:200], kind="read")
        self.accesses = (
            UsesServer(server=server.name, tool=f"reading {printable(uri)[:200]}", reads_only=True, shared=True),
        )

    async def run(self) -> ToolResult:
        """Read the resource."""
        source = f"{printable(self._uri)[:200]} of the MCP server {self._server.name}"
        try:
            result = ToolResult(parts=await self._server.read(self._uri))
        except ToolError as error:
            return marked_failure(error, source=source, clock=self._context.clock)
        return marked(result, source=source, clock=self._context.clock)


def _lines(resources: Sequence[OfferedResource]) -> list[str]:
    lines = [_line(resource) for resource in resources[:MOST_LISTED]]
    if len(resources) > MOST_LISTED:
        lines.append(f"... and {len(resources) - MOST_LISTED} more")
    return lines or ["(none)"]


def _line(resource: OfferedResource) -> str:
    kind = "pattern " if resource.template else ""
    about = " ".join((resource.description or "").split())[:LONGEST_DESCRIPTION]
    details = "; ".join(part for part in (resource.mime_type, about) if part)
    return f"- {kind}{resource.uri} ({resource.name})" + (f": {details}" if details else "")


def _named(name: str, servers: Sequence[Server]) -> Server:
    """The server of a name: the one used in tool names, or its own.

    Raises:
        InvalidArguments: There is none.
    """
    for server in [*(one for one in servers if one.slug == name), *(one for one in servers if one.name == name)]:
        return server
    known = ", ".join(server.slug for server in servers) or "none at the moment"
    raise InvalidArguments(f"`server` must be one of those that have resources: {known}.")


def _text(arguments: JsonObject, name: str, *, tool: str, required: bool = True) -> str:
    value = arguments.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value):
        raise InvalidArguments(f"{tool} needs `{name}`, a text.")
    return value


if TYPE_CHECKING:
    _conforms: tuple[type[Tool], type[Tool]] = (ListResources, ReadResource)
