"""Every message of an agent in protocol 2: its requests, and its results."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from claw_acp.core.value import made_by
from claw_acp.schema.base import NOT_EMPTY, AbsolutePath, Array, JsonObject, JsonValue, Wire
from claw_acp.schema.env_variable import EnvVariable
from claw_acp.schema.initialize import Implementation
from claw_acp.verify.v2.pieces import Open
from claw_acp.verify.v2.tool_calls import ToolCallUpdate
from claw_acp.verify.v2.updates import Command, Option, UpdateSession


class _ToolCallSubject(Wire):
    type: Literal["tool_call"] = "tool_call"
    tool_call: ToolCallUpdate


class _CommandSubject(Wire):
    type: Literal["command"] = "command"
    command: str
    cwd: AbsolutePath
    tool_call_id: str | None = None
    terminal_id: str | None = None


class _PermissionOption(Wire):
    option_id: str
    name: str
    kind: str


class RequestPermission(Wire):
    """`session/request_permission`."""

    session_id: str
    title: str
    description: str | None = None
    subject: Annotated[Any, Open("type", (("tool_call", _ToolCallSubject), ("command", _CommandSubject)))] | None = None
    options: Annotated[Array[_PermissionOption], NOT_EMPTY]


# ------------------------------------------------------------------ results


class _AuthMethod(Wire):
    type: str
    method_id: str
    name: str
    description: str | None = None


class _AuthTerminal(_AuthMethod):
    args: Array[str] = ()
    env: Array[EnvVariable] = ()


class InitializeResult(Wire):
    """The result of `initialize`."""

    protocol_version: int
    info: Implementation
    capabilities: JsonObject = made_by(default_factory=dict[str, JsonValue])
    auth_methods: Array[Annotated[Any, Open("type", (("agent", _AuthMethod), ("terminal", _AuthTerminal)))]] = ()


class OpenedResult(Wire):
    """The result of `session/resume`."""

    config_options: Array[Option] = ()
    available_commands: Array[Command] = ()


class NewSessionResult(OpenedResult):
    """The result of `session/new`."""

    session_id: str


class _SessionInfo(Wire):
    session_id: str
    cwd: AbsolutePath
    additional_directories: Array[AbsolutePath] = ()
    title: str | None = None
    updated_at: str | None = None
    archived: bool | None = None


class ListSessionsResult(Wire):
    """The result of `session/list`."""

    sessions: Array[_SessionInfo]
    next_cursor: str | None = None


class SetOptionResult(Wire):
    """The result of `session/set_config_option`."""

    config_options: Array[Option]


class PromptResult(Wire):
    """The result of `session/prompt`."""

    message_id: str


class NothingMore(Wire):
    """The result of a request without further members."""


RESULTS: Mapping[str, type[Wire]] = {
    "initialize": InitializeResult,
    "auth/login": NothingMore,
    "auth/logout": NothingMore,
    "session/new": NewSessionResult,
    "session/resume": OpenedResult,
    "session/list": ListSessionsResult,
    "session/close": NothingMore,
    "session/delete": NothingMore,
    "session/set_config_option": SetOptionResult,
    "session/prompt": PromptResult,
    "tool_call/cancel": NothingMore,
    "terminal/cancel": NothingMore,
}
CALLS: Mapping[str, type[Wire]] = {
    "session/update": UpdateSession,
    "session/request_permission": RequestPermission,
}
