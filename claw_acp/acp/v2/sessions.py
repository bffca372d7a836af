"""`session/new`, `resume`, `fork`, `status` and `close`."""

from collections.abc import Sequence
from functools import partial

from claw_acp.acp.connection import Connection
from claw_acp.acp.session_setup import AnyServer, Opening, setup_of
from claw_acp.acp.sessions import close_open, find_commands, introduce, opening, settle
from claw_acp.acp.v2.updates import STATES
from claw_acp.acp.v2.view import SessionViewV2
from claw_acp.acp.view import SessionView
from claw_acp.core.errors import InvalidRequest, SessionNotFound
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.schema.invalid import parse
from claw_acp.schema.sessions import CloseSessionRequest
from claw_acp.schema.stored_sessions import SessionStatusRequest
from claw_acp.schema.v2.sessions import ForkSessionRequest, NewSessionRequest, ResumeSessionRequest
from claw_acp.session.setup import SessionSetup


async def new(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """Create a session, which is idle; notices follow the answer."""
    setup = _setup(connection, parse(NewSessionRequest, params, method=call.method))
    engine = await connection.engine()
    async with opening(connection, engine, made=True) as enter:
        view = _ours(enter(await engine.sessions.create(setup)))
        return Reply(await _made(view), partial(settle, engine, view))


async def fork(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A copy of a session, open or not, which goes on independently."""
    request = parse(ForkSessionRequest, params, method=call.method)
    setup = _setup(connection, request)
    engine = await connection.engine()
    async with opening(connection, engine, made=True) as enter:
        view = _ours(enter(await engine.sessions.fork(request.session_id, setup)))
        return Reply(await _made(view), partial(introduce, engine, view))


async def resume(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """Open a session created earlier: its conversation if requested, then its state, then the answer."""
    request = parse(ResumeSessionRequest, params, method=call.method)
    setup = _setup(connection, request)
    is_new_here = not connection.has_open(request.session_id)
    engine = await connection.engine()
    async with opening(connection, engine) as enter:
        async with connection.holding(request.session_id):
            view = _ours(enter(await engine.sessions.open(request.session_id, setup)))
            async with view.holding():
                if request.replay_from is not None:
                    await view.replay()
                elif is_new_here and view.live.session.busy:
                    await view.tell_state()  # calls belong to work
                    await view.show_running()
        await find_commands(view.live)
        await view.tell_state()  # the last word before the answer
        return Reply(view.offers(), partial(settle, engine, view))


async def status(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Return whether a session is in memory, for any connection, and whether it is working."""
    request = parse(SessionStatusRequest, params, method=call.method)
    engine = await connection.engine()
    known: JsonObject = {"status": await engine.sessions.status(request.session_id)}
    if connection.has_open(request.session_id):
        return {**known, "state": session_view(connection, request.session_id).snapshot()}
    live = engine.sessions.look_at(request.session_id)
    if live is None:
        return known
    return {**known, "state": {"state": STATES[live.session.state]}}


async def close(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Close a session; one that is not open here counts as closed."""
    request = parse(CloseSessionRequest, params, method=call.method)
    if connection.has_open(request.session_id):
        try:
            await close_open(connection, call, request.session_id)
        except SessionNotFound:  # somebody closes it just now: its last updates must be out before this answer, too
            await (await connection.engine()).sessions.close(request.session_id)
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


def _ours(view: SessionView) -> SessionViewV2:
    assert isinstance(view, SessionViewV2)  # what a connection of protocol 2 makes
    return view


async def _made(view: SessionViewV2) -> JsonObject:
    """The answer to a request that opens a session."""
    await find_commands(view.live)
    return {"sessionId": view.live.session.id, **view.offers()}


def _setup(connection: Connection, request: Opening) -> SessionSetup:
    _check_names(request.mcp_servers)
    return setup_of(connection, request)


def _check_names(servers: Sequence[AnyServer]) -> None:
    """Check that names are unique, as protocol 2 requires.

    Raises:
        InvalidRequest: They are not.
    """
    names = [server.name for server in servers]
    for name in names:
        if names.count(name) > 1:
            raise InvalidRequest(f"`mcpServers`: more than one is named {name!r}", data={"name": name})
