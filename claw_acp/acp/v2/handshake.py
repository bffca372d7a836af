"""The `initialize` exchange of protocol 2, as a pure function on plain dictionaries."""

from collections.abc import Mapping

from claw_acp.acp.handshake import AGENT_CAPABILITIES, AGENT_INFO, AUTH_METHODS, Handshake, draft_client
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INVALID_PARAMS

PROTOCOL_VERSION = 2

SESSION_MARKERS = ("delete", "additionalDirectories")
"""The session methods and parameters beyond the baseline that protocol 2 serves, where protocol 1 serves them too."""
MCP_MARKERS = ("http",)
"""Likewise for kinds of MCP servers besides programs."""


def initialize(params: JsonObject, exact: bool = True) -> Handshake:  # noqa: FBT001, FBT002 - see Dialect.handshake
    """Answer for protocol 2.

    Args:
        params: What the client said. A malformed capability counts as absent.
        exact: It asked for exactly this version, so that what it must say must be right; a newer client may say it in
            other words.

    Raises:
        RpcError: -32602, `info` does not say who the client is.
    """
    if exact:
        _check_info(params.get("info"))
    result: JsonObject = {
        "protocolVersion": PROTOCOL_VERSION,
        "info": AGENT_INFO,
        "capabilities": {"session": _session_capabilities(), "auth": {}},
        "authMethods": [_auth_method(method) for method in AUTH_METHODS],
    }
    client = draft_client(params.get("capabilities"))
    return Handshake(result, client._replace(notices=True, compaction=True))


def _check_info(info: JsonValue) -> None:
    if not isinstance(info, Mapping):
        raise RpcError(INVALID_PARAMS, "initialize: `info` must be an object with the client's `name` and `version`")
    for key in ("name", "version"):
        if not isinstance(info.get(key), str):
            raise RpcError(INVALID_PARAMS, f"initialize: `info.{key}` must be a string")


def _session_capabilities() -> JsonObject:
    """Those of protocol 1 in the words of protocol 2, where being there is all that a capability says."""
    prompt, mcp = _object(AGENT_CAPABILITIES.get("promptCapabilities")), _object(AGENT_CAPABILITIES["mcpCapabilities"])
    markers = _object(AGENT_CAPABILITIES.get("sessionCapabilities"))
    return {
        "prompt": {name: {} for name, on in prompt.items() if on is True},
        "mcp": {"stdio": {}, **{name: {} for name in MCP_MARKERS if mcp.get(name) is True}},
        **{name: markers[name] for name in SESSION_MARKERS if name in markers},
    }


def _auth_method(method: JsonObject) -> JsonObject:
    known = {key: value for key, value in method.items() if key != "id"}
    return {"type": "agent", "methodId": method["id"], **known}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
