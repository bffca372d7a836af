"""MCP servers that a client asks the agent to connect to."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import NullableArray, Variants, Wire
from claw_acp.schema.env_variable import EnvVariable


class HttpHeader(Wire):
    """A header to send with every request."""

    name: str
    value: str


class McpServerStdio(Wire):
    """A server to run as a child process. Every agent must support these; they have no `type`."""

    name: str
    command: str
    args: NullableArray[str]
    env: NullableArray[EnvVariable]


class McpServerHttp(Wire):
    """A server reached by streamable HTTP."""

    type: Literal["http"] = "http"
    name: str
    url: str
    headers: NullableArray[HttpHeader]


class McpServerSse(Wire):
    """A server reached by HTTP with server-sent events."""

    type: Literal["sse"] = "sse"
    name: str
    url: str
    headers: NullableArray[HttpHeader]


class McpServerAcp(Wire):
    """A server inside the client, reached by `mcp/message` (unstable)."""

    type: Literal["acp"] = "acp"
    name: str
    server_id: str


McpServer: TypeAlias = Annotated[
    McpServerHttp | McpServerSse | McpServerAcp | McpServerStdio,
    Variants(tag="type", otherwise=McpServerStdio),
]
