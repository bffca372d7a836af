"""`authenticate`: the agent method. The key stays outside the protocol; this looks again whether there is one now."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.handshake import KEY_METHOD
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.resolve import resolve
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.authentication import AuthenticateRequest
from claw_acp.schema.invalid import parse


async def authenticate(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Succeed when the configured model can be used; a key written to `config.toml` meanwhile counts.

    Raises:
        InvalidRequest: There is no such method.
        AuthRequired: There is still no usable key; the text says which variable or setting is missing.
    """
    request = parse(AuthenticateRequest, params, method=call.method)
    if request.method_id != KEY_METHOD:
        raise InvalidRequest(f"authenticate: there is no method {request.method_id!r}; use {KEY_METHOD!r}")
    engine = await connection.engine()
    resolve(engine.settings(None), model=None)
    return {}
