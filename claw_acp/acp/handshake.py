"""The `initialize` exchange of protocol 1, as a pure function on plain dictionaries. Standard library only (boot path).

Every transport uses it; on stdio it runs before anything heavy is imported. Params are read leniently, as the schema
asks (`x-deserialize-default-on-error`): a malformed capability counts as absent; the version is strict.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.version import VERSION
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INVALID_PARAMS

PROTOCOL_VERSION = 1
UNSUPPORTED_VERSION = -32022  # ACP: no common version
KEY_METHOD = "api-key"
TERMINAL_METHOD = "login"
AGENT_INFO: JsonObject = {"name": "claw-acp", "title": "Claw", "version": VERSION}

AGENT_CAPABILITIES: JsonObject = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True, "acp": True},
    "sessionCapabilities": {
        "list": {},
        "delete": {},
        "additionalDirectories": {},
        "resume": {},
        "close": {},
        "fork": {},
        "archive": {},
        "status": {},
        "title": {},
        "systemPrompt": {"mode": {"override": {}}},
    },
    "auth": {"logout": {}, "status": {}},
    "providers": {},
}

AUTH_METHODS: tuple[JsonObject, ...] = (
    {
        "id": KEY_METHOD,
        "name": "Provider API key",
        "description": "Enter a key on a page of this computer, run `claw-acp login`, or set ANTHROPIC_API_KEY or "
        "OPENAI_API_KEY for the agent.",
    },
)
"""The methods that are always offered; `auth_methods` adds those that depend on the client."""

LOGIN: JsonObject = {
    "id": TERMINAL_METHOD,
    "name": "Log in in a terminal",
    "description": "Choose a model provider and enter its key; it is tried and kept.",
}
LOGIN_ARGS = ("login",)


class ClientCapabilities(NamedTuple):
    """The capabilities of the client that we use, and its name."""

    name: str = ""
    read_file: bool = False
    write_file: bool = False
    terminal: bool = False
    notices: bool = False
    compaction: bool = False
    boolean_options: bool = False
    forms: bool = False
    urls: bool = False
    terminal_login: bool = False
    terminal_login_by_meta: bool = False
    plans: bool = False
    subagents: bool = False


class Handshake(NamedTuple):
    """A successful exchange: the result to send, and the client's version and capabilities."""

    result: JsonObject
    client: ClientCapabilities


def requested_version(params: JsonValue) -> int:
    """The version the client asks for.

    Raises:
        RpcError: -32602, when `protocolVersion` is not an integer from 0 to 65535 (ACP: uint16).
    """
    if not isinstance(params, Mapping):
        raise RpcError(INVALID_PARAMS, "initialize: params must be an object")
    version = params.get("protocolVersion")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= 65535:
        raise RpcError(INVALID_PARAMS, "initialize: `protocolVersion` must be an integer from 0 to 65535")
    return version


def agreed_version(requested: int, *, spoken: Sequence[int]) -> int:
    """The version to use: the highest that both support. An agent that supports only 1 answers every request with it.

    Raises:
        RpcError: -32022, when several versions are supported and none is as old as the one asked for.
    """
    if tuple(spoken) == (PROTOCOL_VERSION,):
        return PROTOCOL_VERSION
    older = [version for version in spoken if version <= requested]
    if not older:
        known: JsonObject = {"requested": requested, "supported": list(spoken)}
        raise RpcError(UNSUPPORTED_VERSION, f"initialize: protocol version {requested} is not supported", known)
    return max(older)


def initialize(params: JsonObject, exact: bool = True) -> Handshake:  # noqa: FBT001, FBT002 - see Dialect.handshake
    """Answer for protocol 1; a client that asked for a newer version may state its capabilities in another form."""
    if not exact and "clientCapabilities" not in params:
        client = draft_client(params.get("capabilities"))
    else:
        client = _client_capabilities(params.get("clientCapabilities"))._replace(name=_name(params.get("clientInfo")))
    result: JsonObject = {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": AGENT_CAPABILITIES,
        "agentInfo": AGENT_INFO,
        "authMethods": auth_methods(client),
    }
    return Handshake(result, client)


def auth_methods(client: ClientCapabilities) -> tuple[JsonObject, ...]:
    """The ways to log in that this client can use.

    Login in a terminal is offered only to clients that advertised it (ACP: MUST NOT otherwise), or in the older form:
    an ordinary method whose `_meta` holds the whole command.
    """
    if client.terminal_login:
        return (*AUTH_METHODS, {**LOGIN, "type": "terminal", "args": LOGIN_ARGS})
    if client.terminal_login_by_meta:
        command: JsonObject = {
            "label": "claw-acp login",
            "command": sys.executable,
            "args": ("-m", "claw_acp", *LOGIN_ARGS),
        }
        return (*AUTH_METHODS, {**LOGIN, "_meta": {"terminal-auth": command}})
    return AUTH_METHODS


def draft_client(value: JsonValue) -> ClientCapabilities:
    """The capabilities of a protocol 2 client: no files, no terminals, but switches and plans with ids."""
    capabilities = _object(value)
    elicitation = _object(capabilities.get("elicitation"))
    return ClientCapabilities(
        boolean_options=True,
        plans=True,
        forms=isinstance(elicitation.get("form"), Mapping),
        urls=isinstance(elicitation.get("url"), Mapping),
        terminal_login=isinstance(_object(capabilities.get("auth")).get("terminal"), Mapping),
    )


def _client_capabilities(value: JsonValue) -> ClientCapabilities:
    capabilities = _object(value)
    files = _object(capabilities.get("fs"))
    session = _object(capabilities.get("session"))
    elicitation = _object(capabilities.get("elicitation"))
    return ClientCapabilities(
        read_file=files.get("readTextFile") is True,
        write_file=files.get("writeTextFile") is True,
        terminal=capabilities.get("terminal") is True,
        notices=isinstance(session.get("notices"), Mapping),
        compaction=isinstance(session.get("compaction"), Mapping),
        boolean_options=isinstance(_object(session.get("configOptions")).get("boolean"), Mapping),
        forms=isinstance(elicitation.get("form"), Mapping),
        urls=isinstance(elicitation.get("url"), Mapping),
        terminal_login=_object(capabilities.get("auth")).get("terminal") is True,
        terminal_login_by_meta=_object(capabilities.get("_meta")).get("terminal-auth") is True,
        plans=isinstance(capabilities.get("plan"), Mapping),
        subagents=isinstance(capabilities.get("subagents"), Mapping),
    )


def _name(value: JsonValue) -> str:
    name = _object(value).get("name")
    return name if isinstance(name, str) else ""


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
