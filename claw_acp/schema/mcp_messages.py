"""Messages of MCP that travel inside ACP, to servers inside the client (unstable)."""

from claw_acp.schema.base import Int32, JsonObject, JsonValue, Wire


class MessageMcpRequest(Wire):
    """One MCP request to a server inside the client; `request_id` is the caller's, and unlike any that is active."""

    server_id: str
    request_id: str
    method: str
    params: JsonObject | None = None


class McpError(Wire):
    """An error of MCP: its codes are none of ACP's."""

    code: Int32
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
