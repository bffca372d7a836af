"""`auth/login` and `auth/logout`."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.login import login, logout
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.invalid import parse
from claw_acp.schema.v2.authentication import LoginAuthRequest, LogoutAuthRequest


async def log_in(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Succeed when sessions can be started; see `login`."""
    request = parse(LoginAuthRequest, params, method=call.method)
    await login(connection, call, request.method_id)
    return {}


async def log_out(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Remove all logins; see `logout`."""
    parse(LogoutAuthRequest, params, method=call.method)
    return await logout(connection)
