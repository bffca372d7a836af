"""`session/set_mode` and `session/set_config_option`: answered at once, also while a turn runs."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.v1.settings import settings_of
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.session_options import choose, choose_mode
from claw_acp.schema.invalid import parse
from claw_acp.schema.session_settings import SetSessionConfigOptionRequest, SetSessionModeRequest


async def set_mode(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Change the mode."""
    request = parse(SetSessionModeRequest, params, method=call.method)
    view = connection.view(request.session_id)
    await choose_mode(view.live, request.mode_id, by=view.name)
    return {}


async def set_config_option(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Set an option; answers with the current values of all."""
    request = parse(SetSessionConfigOptionRequest, params, method=call.method)
    live = connection.view(request.session_id).live
    await choose(
        live, request.config_id, request.value, switches=connection.client.boolean_options, by=connection.client.name
    )
    return {"configOptions": settings_of(live, connection.client)["configOptions"]}
