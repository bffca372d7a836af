"""The requests of a client that opens a session, independent of any protocol."""

from typing import Literal

from claw_acp.contracts.mcp_server import McpServerSpec
from claw_acp.core.value import Value


class Instructions(Value):
    """Instructions of the client: added to ours, or in their place."""

    mode: Literal["append", "override"]
    text: str


class SessionSetup(Value):
    """Where a session works (absolute paths) and what it has.

    `servers` is the complete set of the client's MCP servers. `instructions` None leaves those kept with the session.
    """

    cwd: str
    additional: tuple[str, ...] = ()
    servers: tuple[McpServerSpec, ...] = ()
    instructions: Instructions | None = None
