"""The setup of a session from a client's request to open one."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from claw_acp.acp.connection import Connection
from claw_acp.acp.mcp_servers import server_specs
from claw_acp.registry.reference import Ref
from claw_acp.schema.mcp import McpServerAcp, McpServerHttp, McpServerSse, McpServerStdio
from claw_acp.session.setup import Instructions, SessionSetup

if TYPE_CHECKING:
    from claw_acp.schema.system_prompt import SystemPrompt

INSTRUCTIONS: "Ref[Callable[[SystemPrompt | None], Instructions | None]]" = Ref(
    "claw_acp.acp.instructions:instructions"
)
AnyServer: TypeAlias = McpServerStdio | McpServerHttp | McpServerSse | McpServerAcp


class Opening(Protocol):
    """The common part of the requests that open a session, in all protocols."""

    @property
    def cwd(self) -> str:
        """The working directory."""
        ...

    @property
    def additional_directories(self) -> tuple[str, ...]:
        """More roots."""
        ...

    @property
    def mcp_servers(self) -> Sequence[AnyServer]:
        """All servers of the client."""
        ...

    @property
    def system_prompt(self) -> "SystemPrompt | None":
        """The client's instructions."""
        ...


def setup_of(connection: Connection, request: Opening) -> SessionSetup:
    """The session setup that a client asks for.

    Raises:
        InvalidRequest: The instructions or an MCP server are of a kind that was not offered.
    """
    servers = server_specs(request.mcp_servers, connection=connection)
    wanted = None if request.system_prompt is None else INSTRUCTIONS.load()(request.system_prompt)
    return SessionSetup(
        cwd=request.cwd,
        additional=request.additional_directories,
        servers=servers,
        instructions=wanted,
        client=connection.peer,
    )
