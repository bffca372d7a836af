"""`providers/list`, `set` and `disable` (unstable): a client routes model requests, until the process ends."""

from claw_acp.acp.connection import Connection
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.accounts import Route
from claw_acp.schema.invalid import parse
from claw_acp.schema.providers import DisableProviderRequest, SetProviderRequest


async def list_providers(connection: Connection, _call: IncomingCall, _params: JsonObject) -> JsonValue:
    """Every provider that can be set, and the destination of its requests; never a header or a key."""
    accounts = (await connection.engine()).accounts
    return {"providers": [_info(route) for route in accounts.routes()]}


async def set_provider(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Send the requests of one provider elsewhere, from the next one on; nothing is written to disk."""
    request = parse(SetProviderRequest, params, method=call.method)
    accounts = (await connection.engine()).accounts
    accounts.set_route(
        request.provider_id, api_type=request.api_type, base_url=request.base_url, headers=request.headers
    )
    return {}


async def disable_provider(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Disable one provider until it is set again. An unknown one counts as disabled."""
    request = parse(DisableProviderRequest, params, method=call.method)
    (await connection.engine()).accounts.disable(request.provider_id)
    return {}


def _info(route: Route) -> JsonObject:
    info: dict[str, JsonValue] = {
        "providerId": route.provider,
        "supported": [route.api_type],
        "required": route.required,
    }
    return info if route.off else info | {"current": {"apiType": route.api_type, "baseUrl": route.base_url}}
