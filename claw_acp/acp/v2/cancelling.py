"""`tool_call/cancel` and `terminal/cancel`: ending one thing.

The answer confirms the start; an update shows the end.
"""

from claw_acp.acp.connection import Connection
from claw_acp.acp.v2.sessions import session_view
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.invalid import parse
from claw_acp.schema.v2.prompt import CancelTerminalRequest, CancelToolCallRequest


async def cancel_tool_call(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Cancel one tool call; the turn goes on.

    Raises:
        InvalidRequest: It is final, or unknown.
    """
    request = parse(CancelToolCallRequest, params, method=call.method)
    session = session_view(connection, request.session_id).live.session
    if not session.work.cancel_call(request.tool_call_id):
        raise InvalidRequest(f"{call.method}: the tool call {request.tool_call_id} has ended, or there is none")
    await session.work.tell_cancelled(request.tool_call_id)
    return {}


async def cancel_terminal(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """End one program.

    Raises:
        InvalidRequest: It has ended, or is unknown.
    """
    request = parse(CancelTerminalRequest, params, method=call.method)
    session = session_view(connection, request.session_id).live.session
    if not session.work.cancel_terminal(request.terminal_id):
        raise InvalidRequest(f"{call.method}: the terminal {request.terminal_id} has ended, or there is none")
    return {}
