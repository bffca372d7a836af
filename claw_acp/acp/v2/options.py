"""`session/set_config_option`: answered at once, also while a turn runs."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.v2.sessions import session_view
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.session_options import choose
from claw_acp.schema.invalid import parse
from claw_acp.schema.v2.options import SetSessionConfigOptionRequest


async def set_config_option(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Set an option; answers with the current values of all."""
    request = parse(SetSessionConfigOptionRequest, params, method=call.method)
    view = session_view(connection, request.session_id)
    await choose(view.live, request.config_id, request.value, switches=view.client.boolean_options, by=view.name)
    return {"configOptions": view.offers()["configOptions"]}
