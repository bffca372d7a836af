"""`auth/login` and `auth/logout`."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.handshake import KEY_METHOD
from claw_acp.acp.login import log_in, log_out
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.invalid import parse
from claw_acp.schema.v2.authentication import LoginAuthRequest, LogoutAuthRequest


async def login(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Log in by the agent's own method.

    Raises:
        InvalidRequest: There is no such method, or it is not for the agent to carry out.
    """
    request = parse(LoginAuthRequest, params, method=call.method)
    if request.method_id != KEY_METHOD:
        raise InvalidRequest(f"{call.method}: there is no method {request.method_id!r} here; use {KEY_METHOD!r}")
    await log_in(connection, call)
    return {}


async def logout(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Forget what was given by logging in."""
    parse(LogoutAuthRequest, params, method=call.method)
    return await log_out(connection)
