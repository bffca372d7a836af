"""MCP servers in protocol 2, each with a type."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema import mcp
from claw_acp.schema.base import NullableArray, Variants
from claw_acp.schema.env_variable import EnvVariable
from claw_acp.schema.mcp import HttpHeader, McpServerAcp


class McpServerStdio(mcp.McpServerStdio):
    """A server to run as a child process; `command` should be absolute, but a name on PATH is accepted."""

    type: Literal["stdio"] = "stdio"
    args: NullableArray[str] = ()
    env: NullableArray[EnvVariable] = ()


class McpServerHttp(mcp.McpServerHttp):
    """A server reached by streamable HTTP."""

    headers: NullableArray[HttpHeader] = ()


McpServer: TypeAlias = Annotated[McpServerStdio | McpServerHttp | McpServerAcp, Variants(tag="type")]
