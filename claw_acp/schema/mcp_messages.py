"""Messages of MCP that travel inside ACP, to servers inside the client (unstable)."""

from typing import Annotated

from pydantic import Field

from claw_acp.schema.base import JsonObject, JsonValue, Wire


class MessageMcpRequest(Wire):
    """One MCP request to a server inside the client; `request_id` is the caller's, and unlike any that is active."""

    server_id: str
    request_id: str
    method: str
    params: JsonObject | None = None


class McpError(Wire):
    """An error of MCP: its codes are none of ACP's."""

    code: Annotated[int, Field(ge=-0x8000_0000, le=0x7FFF_FFFF)]
    message: str
    data: JsonValue = None


class MessageMcpResponse(Wire):
    """What came of the request: a result, null included, or else an error."""

    result: JsonValue = None
    error: McpError | None = None


class MessageMcpNotification(Wire):
    """Something the server says about a request that is active."""

    server_id: str
    request_id: str
    method: str
    params: JsonObject | None = None
