"""Operations on sessions without opening them: `session/archive`, `unarchive`, `status`, `set_title`."""

from claw_acp.acp.connection import Connection
from claw_acp.acp.sessions import finish_anyway
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.invalid import parse
from claw_acp.schema.stored_sessions import (
    ArchiveSessionRequest,
    SessionStatusRequest,
    SetSessionTitleRequest,
    UnarchiveSessionRequest,
)


async def archive(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Close a session for all clients, and leave it out of ordinary lists."""
    request = parse(ArchiveSessionRequest, params, method=call.method)
    call.on_cancel = finish_anyway
    await (await connection.engine()).sessions.archive(request.session_id)
    return {}


async def unarchive(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Show a session in ordinary lists again."""
    request = parse(UnarchiveSessionRequest, params, method=call.method)
    await (await connection.engine()).sessions.unarchive(request.session_id)
    return {}


async def status(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Return whether a session is in memory, for any connection."""
    request = parse(SessionStatusRequest, params, method=call.method)
    return {"status": await (await connection.engine()).sessions.status(request.session_id)}


async def set_title(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Set the title of a session; all clients that have it open are notified."""
    request = parse(SetSessionTitleRequest, params, method=call.method)
    return {"title": await (await connection.engine()).sessions.set_title(request.session_id, request.title)}
