"""The setup of a session as a client requests it, independent of any protocol version."""

from typing import Literal

from claw_acp.contracts.mcp_server import McpServerSpec
from claw_acp.core.value import Value


class Instructions(Value):
    """Instructions of the client: added to ours, or replacing them."""

    mode: Literal["append", "override"]
    text: str


class SessionSetup(Value):
    """The directories of a session (absolute paths), its MCP servers and instructions.

    `servers` is the complete set of the client's MCP servers. `instructions` None keeps those stored with the session.
    `client` is whoever asks, if it can be told from others that have the session open.
    """

    cwd: str
    additional: tuple[str, ...] = ()
    servers: tuple[McpServerSpec, ...] = ()
    instructions: Instructions | None = None
    client: object | None = None
