"""What protocols have in common about sessions: listing and removing them, and what surrounds their opening."""

import logging
from collections.abc import Sequence

from claw_acp.acp.connection import Connection
from claw_acp.acp.view import SessionView
from claw_acp.core.clock import iso_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import CommandsChanged
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.runtime.warm_up import for_prompts
from claw_acp.schema.invalid import parse
from claw_acp.schema.mcp import McpServerHttp, McpServerSse, McpServerStdio
from claw_acp.schema.sessions import DeleteSessionRequest, ListSessionsRequest
from claw_acp.session.record import SessionRecord

log = logging.getLogger(__name__)


async def list_sessions(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """A page of sessions, the last changed first."""
    request = parse(ListSessionsRequest, params, method=call.method)
    engine = await connection.engine()
    page = await engine.list(cwd=request.cwd, cursor=request.cursor)
    result: dict[str, JsonValue] = {"sessions": [session_info(record) for record in page.records]}
    return result | ({"nextCursor": page.next_cursor} if page.next_cursor else {})


async def delete(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Remove a session for good; one that does not exist is already gone."""
    request = parse(DeleteSessionRequest, params, method=call.method)
    call.on_cancel = finish_anyway
    await (await connection.engine()).delete(request.session_id)
    connection.forget(request.session_id)
    return {}


async def close_open(connection: Connection, call: IncomingCall, session_id: str) -> None:
    """Cancel the work of a session that is open here, and free it; its last updates come first, and none after."""
    call.on_cancel = finish_anyway
    await (await connection.engine()).close(session_id)
    connection.forget(session_id)


def finish_anyway() -> None:
    """What cancelling means for a request that frees things: nothing; half freed helps nobody."""


async def settle(engine: Engine, view: SessionView, missing: Sequence[str]) -> None:
    """What follows a session's opening: what the client should know, and what the first prompt will need."""
    await find_commands(view.opened)
    await view.announce(missing)
    await for_prompts(engine, view.opened)


async def find_commands(opened: OpenSession) -> None:
    """Look for prompt files before a client is told what can be typed; others who watch the session hear of news."""
    if await opened.commands.look() and len(opened.session.watchers) > 1:
        await opened.session.show(CommandsChanged())


async def prepare_history(engine: Engine, view: SessionView) -> None:
    """Fold a long conversation into messages now, so that the first prompt need not wait for it."""
    view.opened.session.history.messages()
    await for_prompts(engine, view.opened)


def left_out(servers: Sequence[McpServerStdio | McpServerHttp | McpServerSse]) -> list[str]:
    """What was asked for and is not done, for a notice; it is in the log too.

    Raises:
        InvalidRequest: A server is of a kind that was not advertised.
    """
    for server in servers:
        if not isinstance(server, McpServerStdio):
            raise InvalidRequest(f"the MCP server {server.name} is of a kind that was not advertised: {server.type}")
    if not servers:
        return []
    names = ", ".join(server.name for server in servers)
    log.warning("MCP servers not connected: not supported yet", extra={"servers": names})
    return [f"MCP servers are not supported yet, so these are not connected: {names}"]


def session_info(record: SessionRecord) -> JsonObject:
    """A session in a list."""
    info: dict[str, JsonValue] = {
        "sessionId": record.id,
        "cwd": record.cwd,
        "updatedAt": iso_time(record.updated_at),
    }
    if record.additional_directories:
        info["additionalDirectories"] = list(record.additional_directories)
    return info | ({"title": record.title} if record.title else {})
