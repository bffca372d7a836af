"""MCP servers for a session, from the editor or the configuration."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, Protocol, TypeAlias

from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value, made_by


class StdioServer(Value):
    """A program that speaks MCP on its stdin and stdout; `env` is added to a small set of inherited variables.

    It runs in `cwd`, by default that of the session. `secrets` are the values that came from secret stores.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = made_by(default_factory=dict[str, str])
    cwd: str | None = None
    secrets: tuple[str, ...] = ()

    hidden = ("env", "secrets")


class HttpServer(Value):
    """A server at an address: MCP's streamable HTTP, or the older HTTP with server-sent events.

    `secrets` are the values that came from secret stores.
    """

    name: str
    url: str
    kind: Literal["http", "sse"] = "http"
    headers: Mapping[str, str] = made_by(default_factory=dict[str, str])
    secrets: tuple[str, ...] = ()

    hidden = ("headers", "secrets")


OnServerMessage: TypeAlias = Callable[[str, str, JsonObject], Awaitable[None]]
"""Called with a notification that belongs to a running request: request id, method, params."""


class ServerLink(Protocol):
    """The connection to a server that lives in the client (MCP over ACP, unstable)."""

    async def request(self, request_id: str, method: str, params: JsonObject) -> JsonObject:
        """Send one MCP request; returns `{"result": ...}` or `{"error": {"code", "message", "data"?}}`.

        Raises:
            RpcError: The client refused the message itself.
            ConnectionClosed: It is gone.
        """
        ...

    def listen(self, heard: OnServerMessage) -> None:
        """From now on call `heard` with the messages of the server during requests."""
        ...


class ClientServer(Value):
    """A server inside the client, reached over `link`."""

    name: str
    server_id: str
    link: ServerLink


McpServerSpec: TypeAlias = StdioServer | HttpServer | ClientServer
