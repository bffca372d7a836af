"""`session/new`, `load`, `resume` and `close`."""

from contextlib import AsyncExitStack
from functools import partial

from claw_acp.acp.connection import Connection
from claw_acp.acp.session_setup import setup_of
from claw_acp.acp.sessions import close_open, find_commands, opening, prepare_history, settle
from claw_acp.acp.v1.settings import settings_of
from claw_acp.acp.view import SessionView
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.runtime.engine import Engine
from claw_acp.schema.invalid import parse
from claw_acp.schema.sessions import (
    CloseSessionRequest,
    LoadSessionRequest,
    NewSessionRequest,
    ResumeSessionRequest,
)


async def new(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """Create a session; commands and notices follow the answer."""
    request = parse(NewSessionRequest, params, method=call.method)
    setup = setup_of(connection, request)
    engine = await connection.engine()
    async with opening(connection, engine, made=True) as enter:
        view = enter(await engine.sessions.create(setup))
        return Reply(made(view), partial(settle, engine, view))


async def load(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """Open a session created earlier; its whole conversation is replayed before the answer."""
    request = parse(LoadSessionRequest, params, method=call.method)
    setup = setup_of(connection, request)
    engine = await connection.engine()
    async with opening(connection, engine) as enter:
        async with connection.holding(request.session_id):
            view = enter(await engine.sessions.open(request.session_id, setup))
            await view.replay()
        await find_commands(view.live)
        await view.announce()
        return Reply(settings_of(view.live, view.client), partial(prepare_history, engine, view))


async def resume(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """Open a session created earlier, without replaying its conversation."""
    request = parse(ResumeSessionRequest, params, method=call.method)
    setup = setup_of(connection, request)
    is_new_here = not connection.has_open(request.session_id)
    engine = await connection.engine()
    async with opening(connection, engine) as enter:
        view = enter(await engine.sessions.open(request.session_id, setup))
        join = AsyncExitStack()
        if is_new_here and view.live.session.busy:
            await join.enter_async_context(view.holding())
        return Reply(settings_of(view.live, view.client), partial(_join, engine, view, join))


async def close(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Close a session that is open here."""
    request = parse(CloseSessionRequest, params, method=call.method)
    connection.view(request.session_id)
    await close_open(connection, call, request.session_id)
    return {}


def made(view: SessionView) -> JsonObject:
    """The answer to a request that opens a session."""
    return {"sessionId": view.live.session.id, **settings_of(view.live, view.client)}


async def _join(engine: Engine, view: SessionView, hold: AsyncExitStack) -> None:
    """Finish opening a session; if a turn runs, show its running calls first."""
    async with hold:
        if view.live.session.busy:
            await view.show_running()
    await settle(engine, view)
