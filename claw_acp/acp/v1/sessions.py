"""`session/new`, `load`, `resume` and `close`."""

from functools import partial

from claw_acp.acp.connection import Connection
from claw_acp.acp.sessions import close_open, find_commands, left_out, prepare_history, settle
from claw_acp.acp.v1.settings import settings_of
from claw_acp.acp.view import SessionView
from claw_acp.contracts.session_setup import SessionSetup
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.schema.invalid import parse
from claw_acp.schema.sessions import (
    CloseSessionRequest,
    LoadSessionRequest,
    NewSessionRequest,
    ResumeSessionRequest,
)


async def new(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A new session; what the client should know of it follows the answer."""
    request = parse(NewSessionRequest, params, method=call.method)
    missing = left_out(request.mcp_servers)
    engine = await connection.engine()
    opened = await engine.create(_setup(request))
    view = connection.open(opened)
    return Reply(
        {"sessionId": opened.session.id, **settings_of(opened, connection.client)},
        partial(settle, engine, view, missing),
    )


async def load(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier, its whole conversation shown before the answer."""
    request = parse(LoadSessionRequest, params, method=call.method)
    view = await _reopen(connection, request)
    await view.replay()
    await find_commands(view.opened)
    await view.announce(left_out(request.mcp_servers))
    return Reply(settings_of(view.opened, view.client), partial(prepare_history, await connection.engine(), view))


async def resume(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier, without showing its conversation again."""
    request = parse(ResumeSessionRequest, params, method=call.method)
    missing = left_out(request.mcp_servers)
    view = await _reopen(connection, request)
    return Reply(settings_of(view.opened, view.client), partial(settle, await connection.engine(), view, missing))


async def close(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Close a session that is open here."""
    request = parse(CloseSessionRequest, params, method=call.method)
    connection.view(request.session_id)
    await close_open(connection, call, request.session_id)
    return {}


def _setup(request: NewSessionRequest | LoadSessionRequest | ResumeSessionRequest) -> SessionSetup:
    return SessionSetup(cwd=request.cwd, additional=request.additional_directories)


async def _reopen(connection: Connection, request: LoadSessionRequest | ResumeSessionRequest) -> SessionView:
    engine = await connection.engine()
    opened = await engine.open(request.session_id, _setup(request))
    return connection.open(opened)
