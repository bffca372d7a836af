"""Messages of MCP that travel inside ACP, to servers inside the client (unstable)."""

from claw_acp.schema.base import Int32, JsonObject, JsonValue, Wire


class MessageMcpRequest(Wire):
    """One MCP request to a server inside the client; `request_id` is the caller's, unique among active ones."""

    server_id: str
    request_id: str
    method: str
    params: JsonObject | None = None


class McpError(Wire):
    """An error of MCP, whose codes are not those of ACP."""

    code: Int32
    message: str
    data: JsonValue = None


class MessageMcpResponse(Wire):
    """The outcome of the request: a result, null included, or else an error."""

    result: JsonValue = None
    error: McpError | None = None


class MessageMcpNotification(Wire):
    """A message of the server about an active request."""

    server_id: str
    request_id: str
    method: str
    params: JsonObject | None = None
