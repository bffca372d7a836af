"""`session/new`, `resume` and `close`."""

from functools import partial

from claw_acp.acp.connection import Connection
from claw_acp.acp.mcp_servers import server_specs
from claw_acp.acp.sessions import close_open, find_commands, settle
from claw_acp.acp.v2.view import SessionViewV2
from claw_acp.contracts.session_setup import SessionSetup
from claw_acp.core.errors import SessionNotFound
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.schema.invalid import parse
from claw_acp.schema.sessions import CloseSessionRequest
from claw_acp.schema.v2.sessions import NewSessionRequest, ResumeSessionRequest


async def new(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A new session, which is idle; notices follow the answer."""
    request = parse(NewSessionRequest, params, method=call.method)
    servers = server_specs(request.mcp_servers, connection=connection)
    engine = await connection.engine()
    setup = SessionSetup(cwd=request.cwd, additional=request.additional_directories, servers=servers)
    opened = await engine.create(setup)
    connection.open(opened)
    view = session_view(connection, opened.session.id)
    await find_commands(opened)
    return Reply({"sessionId": opened.session.id, **view.offers()}, partial(settle, engine, view))


async def resume(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier: its conversation if that is wanted, then how things are, then the answer."""
    request = parse(ResumeSessionRequest, params, method=call.method)
    servers = server_specs(request.mcp_servers, connection=connection)
    engine = await connection.engine()
    setup = SessionSetup(cwd=request.cwd, additional=request.additional_directories, servers=servers)
    connection.open(await engine.open(request.session_id, setup))
    view = session_view(connection, request.session_id)
    if request.replay_from is not None:
        await view.replay()
    await view.tell_state()
    await find_commands(view.opened)
    return Reply(view.offers(), partial(settle, engine, view))


async def close(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Close a session; one that is not open here is closed already."""
    request = parse(CloseSessionRequest, params, method=call.method)
    if connection.has_open(request.session_id):
        await close_open(connection, call, request.session_id)
    return {}


def session_view(connection: Connection, session_id: str) -> SessionViewV2:
    """An active session.

    Raises:
        SessionNotFound: It was not opened on this connection, or closed since.
    """
    view = connection.view(session_id)
    if not isinstance(view, SessionViewV2):
        raise SessionNotFound(session_id)
    return view
