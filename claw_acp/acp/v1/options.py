"""`session/set_mode` and `session/set_config_option`: answered at once, also while a turn runs."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.v1.settings import settings_of
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.choices import choose_mode, choose_model
from claw_acp.schema.invalid import parse
from claw_acp.schema.session_settings import SetSessionConfigOptionRequest, SetSessionModeRequest

SETTERS = {"mode": choose_mode, "model": choose_model}


async def set_mode(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Switch the mode."""
    request = parse(SetSessionModeRequest, params, method=call.method)
    await choose_mode(connection.view(request.session_id).opened, request.mode_id)
    return {}


async def set_config_option(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Set an option; answers with all of them, as they are now."""
    request = parse(SetSessionConfigOptionRequest, params, method=call.method)
    opened = connection.view(request.session_id).opened
    setter = SETTERS.get(request.config_id)
    if setter is None:
        raise InvalidRequest(f"there is no option {request.config_id!r}; there are: {', '.join(SETTERS)}")
    if not isinstance(request.value, str):
        raise InvalidRequest(f"the option {request.config_id!r} takes one of its values, not true or false")
    await setter(opened, request.value)
    return {"configOptions": settings_of(opened)["configOptions"]}
