"""`session/new`, `load`, `resume`, `list`, `close`, `delete`."""

import logging
from collections.abc import Sequence
from functools import partial

from claw_acp.acp.connection import Connection
from claw_acp.acp.v1.settings import settings_of
from claw_acp.acp.view import SessionView
from claw_acp.contracts.session_setup import SessionSetup
from claw_acp.core.clock import iso_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.warm_up import for_prompts
from claw_acp.schema.invalid import parse
from claw_acp.schema.mcp import McpServerStdio
from claw_acp.schema.sessions import (
    CloseSessionRequest,
    DeleteSessionRequest,
    ListSessionsRequest,
    LoadSessionRequest,
    NewSessionRequest,
    ResumeSessionRequest,
)
from claw_acp.session.record import SessionRecord

log = logging.getLogger(__name__)


async def new(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A new session; what the client should know of it follows the answer."""
    request = parse(NewSessionRequest, params, method=call.method)
    missing = _left_out(request)
    engine = await connection.engine()
    opened = await engine.create(_setup(request))
    view = connection.open(opened)
    return Reply(
        {"sessionId": opened.session.id, **settings_of(opened, connection.client)},
        partial(_settle, engine, view, missing),
    )


async def load(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier, its whole conversation shown before the answer."""
    request = parse(LoadSessionRequest, params, method=call.method)
    view = await _reopen(connection, request)
    await view.replay()
    await view.announce(_left_out(request))
    return Reply(settings_of(view.opened, view.client), partial(_prepare_history, await connection.engine(), view))


async def resume(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier, without showing its conversation again."""
    request = parse(ResumeSessionRequest, params, method=call.method)
    missing = _left_out(request)
    view = await _reopen(connection, request)
    return Reply(settings_of(view.opened, view.client), partial(_settle, await connection.engine(), view, missing))


async def list_sessions(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """A page of sessions, the last changed first."""
    request = parse(ListSessionsRequest, params, method=call.method)
    engine = await connection.engine()
    page = await engine.list(cwd=request.cwd, cursor=request.cursor)
    result: dict[str, JsonValue] = {"sessions": [_info(record) for record in page.records]}
    return result | ({"nextCursor": page.next_cursor} if page.next_cursor else {})


async def close(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Cancel a session's work and free it; its last updates come before the answer, and none after."""
    request = parse(CloseSessionRequest, params, method=call.method)
    connection.view(request.session_id)
    call.on_cancel = _finish_anyway
    await (await connection.engine()).close(request.session_id)
    connection.forget(request.session_id)
    return {}


async def delete(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Remove a session for good; one that does not exist is already gone."""
    request = parse(DeleteSessionRequest, params, method=call.method)
    call.on_cancel = _finish_anyway
    await (await connection.engine()).delete(request.session_id)
    connection.forget(request.session_id)
    return {}


def _finish_anyway() -> None:
    """What cancelling means for a request that frees things: nothing; half freed helps nobody."""


def _setup(request: NewSessionRequest | LoadSessionRequest | ResumeSessionRequest) -> SessionSetup:
    return SessionSetup(cwd=request.cwd, additional=request.additional_directories)


async def _reopen(connection: Connection, request: LoadSessionRequest | ResumeSessionRequest) -> SessionView:
    engine = await connection.engine()
    opened = await engine.open(request.session_id, _setup(request))
    return connection.open(opened)


async def _settle(engine: Engine, view: SessionView, missing: Sequence[str]) -> None:
    """What follows a session's opening: what the client should know, and what the first prompt will need."""
    await view.announce(missing)
    await for_prompts(engine, view.opened)


async def _prepare_history(engine: Engine, view: SessionView) -> None:
    """Fold a long conversation into messages now, so that the first prompt need not wait for it."""
    view.opened.session.history.messages()
    await for_prompts(engine, view.opened)


def _left_out(request: NewSessionRequest | LoadSessionRequest | ResumeSessionRequest) -> list[str]:
    """What was asked for and is not done, for a notice; it is in the log too.

    Raises:
        InvalidRequest: A server is of a kind that was not advertised.
    """
    for server in request.mcp_servers:
        if not isinstance(server, McpServerStdio):
            raise InvalidRequest(f"the MCP server {server.name} is of a kind that was not advertised: {server.type}")
    if not request.mcp_servers:
        return []
    names = ", ".join(server.name for server in request.mcp_servers)
    log.warning("MCP servers not connected: not supported yet", extra={"servers": names})
    return [f"MCP servers are not supported yet, so these are not connected: {names}"]


def _info(record: SessionRecord) -> JsonObject:
    info: dict[str, JsonValue] = {
        "sessionId": record.id,
        "cwd": record.cwd,
        "updatedAt": iso_time(record.updated_at),
    }
    if record.additional_directories:
        info["additionalDirectories"] = list(record.additional_directories)
    return info | ({"title": record.title} if record.title else {})
