"""`session/fork`."""

from functools import partial

from claw_acp.acp.connection import Connection
from claw_acp.acp.session_setup import setup_of
from claw_acp.acp.sessions import introduce, opening
from claw_acp.acp.v1.sessions import made
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.peer import IncomingCall, Reply
from claw_acp.schema.invalid import parse
from claw_acp.schema.stored_sessions import ForkSessionRequest


async def fork(connection: Connection, call: IncomingCall, params: JsonObject) -> Reply:
    """A copy of a session, open or not, which goes on independently."""
    request = parse(ForkSessionRequest, params, method=call.method)
    setup = setup_of(connection, request)
    engine = await connection.engine()
    async with opening(connection, engine, made=True) as enter:
        view = enter(await engine.sessions.fork(request.session_id, setup))
        return Reply(made(view), partial(introduce, engine, view))
