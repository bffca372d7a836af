"""A client's MCP servers as engine specs, and the connection to servers inside the client."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from claw_acp.acp.connection import Connection
from claw_acp.acp.handshake import AGENT_CAPABILITIES
from claw_acp.contracts.mcp_server import (
    ClientServer,
    HttpServer,
    McpServerSpec,
    OnServerMessage,
    ServerLink,
    StdioServer,
)
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INTERNAL_ERROR
from claw_acp.schema.mcp import McpServerAcp, McpServerHttp, McpServerSse, McpServerStdio

MESSAGE = "mcp/message"
_OFFERED = cast("Mapping[str, bool]", AGENT_CAPABILITIES["mcpCapabilities"])
KINDS: Collection[str] = frozenset({"stdio", *(kind for kind, offered in _OFFERED.items() if offered)})
"""The kinds of servers that protocol 1 advertises."""


def server_specs(
    servers: Sequence[McpServerStdio | McpServerHttp | McpServerSse | McpServerAcp],
    *,
    connection: Connection,
    kinds: Collection[str] = KINDS,
) -> tuple[McpServerSpec, ...]:
    """The servers of a request.

    Raises:
        InvalidRequest: One is of a kind that was not advertised.
    """
    return tuple(_spec(server, connection=connection, kinds=kinds) for server in servers)


def _spec(
    server: McpServerStdio | McpServerHttp | McpServerSse | McpServerAcp,
    *,
    connection: Connection,
    kinds: Collection[str],
) -> McpServerSpec:
    kind = "stdio" if isinstance(server, McpServerStdio) else server.type
    if kind not in kinds:
        raise InvalidRequest(
            f'the MCP server "{server.name}" is of the kind {kind}, which was not advertised (see `mcpCapabilities`)'
        )
    match server:
        case McpServerStdio():
            env = {variable.name: variable.value for variable in server.env}
            return StdioServer(name=server.name, command=server.command, args=server.args, env=env)
        case McpServerHttp() | McpServerSse():
            headers = {header.name: header.value for header in server.headers}
            return HttpServer(name=server.name, url=server.url, kind=server.type, headers=headers)
        case McpServerAcp():
            link = ClientLink(connection, server.server_id)
            return ClientServer(name=server.name, server_id=server.server_id, link=link)


class _OpenRequests(dict[tuple[str, str], OnServerMessage]):
    """The callbacks of requests to MCP servers inside the client, by the ids of server and request."""


def _requests(connection: Connection) -> _OpenRequests:
    return connection.part(_OpenRequests, _OpenRequests)


class ClientLink:
    """See `ServerLink`. Links to one server over one connection are equal: the server is the same."""

    def __init__(self, connection: Connection, server_id: str) -> None:
        self._connection = connection
        self._server_id = server_id
        self._heard: OnServerMessage | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClientLink) and (self._connection, self._server_id) == (
            other._connection,
            other._server_id,
        )

    def __hash__(self) -> int:
        return hash((id(self._connection), self._server_id))

    async def request(self, request_id: str, method: str, params: JsonObject) -> JsonObject:
        """See `ServerLink`."""
        key, open_requests = (self._server_id, request_id), _requests(self._connection)
        if self._heard is not None:
            open_requests[key] = self._heard
        envelope = {"serverId": self._server_id, "requestId": request_id, "method": method, "params": params}
        try:
            outcome = await self._connection.peer.request(MESSAGE, envelope)
        finally:
            open_requests.pop(key, None)
        if isinstance(outcome, Mapping) and ("result" in outcome or isinstance(outcome.get("error"), Mapping)):
            return outcome
        raise RpcError(INTERNAL_ERROR, "the client's answer has neither a result nor an error")

    def listen(self, heard: OnServerMessage) -> None:
        """See `ServerLink`."""
        self._heard = heard


async def message(connection: Connection, params: JsonObject) -> None:
    """`mcp/message` from the client: a message about a request of ours; ignored once that is over."""
    server_id, request_id, method = params.get("serverId"), params.get("requestId"), params.get("method")
    if not (isinstance(server_id, str) and isinstance(request_id, str) and isinstance(method, str)):
        raise InvalidRequest(f"{MESSAGE}: `serverId`, `requestId` and `method` must be strings")
    heard = _requests(connection).get((server_id, request_id))
    if heard is not None:
        inner = params.get("params")
        await heard(request_id, method, inner if isinstance(inner, Mapping) else {})


if TYPE_CHECKING:
    _conforms: type[ServerLink] = ClientLink
