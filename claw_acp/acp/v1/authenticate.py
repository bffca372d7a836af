"""`authenticate` and `logout`."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.login import login, logout
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.authentication import AuthenticateRequest, LogoutRequest
from claw_acp.schema.invalid import parse


async def authenticate(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Succeed when sessions can be started; see `login`."""
    request = parse(AuthenticateRequest, params, method=call.method)
    await login(connection, call, request.method_id)
    return {}


async def log_out(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Remove all logins; see `logout`."""
    parse(LogoutRequest, params, method=call.method)
    return await logout(connection)
