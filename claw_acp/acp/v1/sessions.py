"""`session/new`, `load`, `resume` and `close`."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from claw_acp.acp.connection import Connection
from claw_acp.acp.mcp_servers import server_specs
from claw_acp.acp.sessions import close_open, find_commands, prepare_history, settle
from claw_acp.acp.v1.settings import settings_of
from claw_acp.acp.view import SessionView
from claw_acp.contracts.session_setup import Instructions, SessionSetup
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.runtime.engine import Engine
from claw_acp.schema.invalid import parse
from claw_acp.schema.sessions import (
    CloseSessionRequest,
    LoadSessionRequest,
    NewSessionRequest,
    ResumeSessionRequest,
)

if TYPE_CHECKING:
    from claw_acp.schema.stored_sessions import ForkSessionRequest
    from claw_acp.schema.system_prompt import SystemPrompt

INSTRUCTIONS: "Ref[Callable[[SystemPrompt | None], Instructions | None]]" = Ref(
    "claw_acp.acp.instructions:instructions"
)


async def new(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A new session; what the client should know of it follows the answer."""
    request = parse(NewSessionRequest, params, method=call.method)
    setup = setup_of(connection, request)
    engine = await connection.engine()
    view = connection.open(await engine.create(setup))
    return Reply(made(view), partial(settle, engine, view))


async def load(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier, its whole conversation shown before the answer."""
    request = parse(LoadSessionRequest, params, method=call.method)
    async with connection.holding(request.session_id):
        view = await _reopen(connection, request)
        await view.replay()
    await find_commands(view.opened)
    await view.announce()
    return Reply(settings_of(view.opened, view.client), partial(prepare_history, await connection.engine(), view))


async def resume(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A session made earlier, without showing its conversation again."""
    request = parse(ResumeSessionRequest, params, method=call.method)
    is_new_here = not connection.has_open(request.session_id)
    view = await _reopen(connection, request)
    join = AsyncExitStack()
    if is_new_here and view.opened.session.busy:
        await join.enter_async_context(view.holding())
    engine = await connection.engine()
    return Reply(settings_of(view.opened, view.client), partial(_join, engine, view, join))


async def close(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Close a session that is open here."""
    request = parse(CloseSessionRequest, params, method=call.method)
    connection.view(request.session_id)
    await close_open(connection, call, request.session_id)
    return {}


def made(view: SessionView) -> JsonObject:
    """The answer that makes a session."""
    return {"sessionId": view.opened.session.id, **settings_of(view.opened, view.client)}


def setup_of(
    connection: Connection,
    request: "NewSessionRequest | LoadSessionRequest | ResumeSessionRequest | ForkSessionRequest",
) -> SessionSetup:
    """What a client asks for.

    Raises:
        InvalidRequest: The instructions are none that we follow, or an MCP server is of a kind that was not offered.
    """
    servers = server_specs(request.mcp_servers, connection=connection)
    wanted = None if request.system_prompt is None else INSTRUCTIONS.load()(request.system_prompt)
    return SessionSetup(
        cwd=request.cwd, additional=request.additional_directories, servers=servers, instructions=wanted
    )


async def _join(engine: Engine, view: SessionView, hold: AsyncExitStack) -> None:
    """What follows the answer that opened a session; first, where a turn runs, the calls that run in it."""
    async with hold:
        if view.opened.session.busy:
            await view.show_running()
    await settle(engine, view)


async def _reopen(connection: Connection, request: LoadSessionRequest | ResumeSessionRequest) -> SessionView:
    setup = setup_of(connection, request)
    engine = await connection.engine()
    opened = await engine.open(request.session_id, setup)
    return connection.open(opened)
