"""The `initialize` exchange of protocol 2, as a pure function on plain dictionaries."""

from collections.abc import Mapping

from claw_acp.acp.handshake import AGENT_CAPABILITIES, AGENT_INFO, Handshake, auth_methods, draft_client
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INVALID_PARAMS

PROTOCOL_VERSION = 2

SESSION_MARKERS = ("delete", "additionalDirectories", "fork", "archive", "status", "title", "systemPrompt")
"""The session features that protocol 2 serves beyond the baseline, where protocol 1 serves them too."""
MCP_MARKERS = ("http", "acp")
"""Likewise for kinds of MCP servers besides stdio."""


def initialize(params: JsonObject, exact: bool = True) -> Handshake:  # noqa: FBT001, FBT002 - see Dialect.handshake
    """Answer for protocol 2.

    Args:
        params: The client's params. A malformed capability counts as absent.
        exact: The client asked for exactly this version, so that required members must be valid; a newer client may use
            another form.

    Raises:
        RpcError: -32602, `info` does not name the client.
    """
    if exact:
        _check_info(params.get("info"))
    client = draft_client(params.get("capabilities"))._replace(notices=True, compaction=True)
    result: JsonObject = {
        "protocolVersion": PROTOCOL_VERSION,
        "info": AGENT_INFO,
        "capabilities": _capabilities(),
        "authMethods": [_auth_method(method) for method in auth_methods(client)],
    }
    return Handshake(result, client)


def _check_info(info: JsonValue) -> None:
    if not isinstance(info, Mapping):
        raise RpcError(INVALID_PARAMS, "initialize: `info` must be an object with the client's `name` and `version`")
    for key in ("name", "version"):
        if not isinstance(info.get(key), str):
            raise RpcError(INVALID_PARAMS, f"initialize: `info.{key}` must be a string")


def _capabilities() -> JsonObject:
    """The capabilities of protocol 1 in the form of protocol 2, where presence means support."""
    prompt, mcp, markers, auth = (
        _object(AGENT_CAPABILITIES.get(key))
        for key in ("promptCapabilities", "mcpCapabilities", "sessionCapabilities", "auth")
    )
    session: JsonObject = {
        "prompt": {name: {} for name, on in prompt.items() if on is True},
        "mcp": {"stdio": {}, **{name: {} for name in MCP_MARKERS if mcp.get(name) is True}},
        **{name: markers[name] for name in SESSION_MARKERS if name in markers},
    }
    return {
        "session": session,
        "auth": {name: auth[name] for name in ("status",) if name in auth},
        **{name: AGENT_CAPABILITIES[name] for name in ("providers",) if name in AGENT_CAPABILITIES},
    }


def _auth_method(method: JsonObject) -> JsonObject:
    known = {key: value for key, value in method.items() if key != "id"}
    return {"type": "agent", "methodId": method["id"], **known}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
