"""Tool calls and terminals of protocol 2."""

from typing import Annotated, Any, Literal, TypeAlias

from claw_acp.schema.base import AbsolutePath, Array, JsonObject, JsonValue, Uint32, Wire
from claw_acp.verify.v2.pieces import Base64, ContentBlock, Open


class _Content(Wire):
    type: Literal["content"] = "content"
    content: ContentBlock


class _Path(Wire):
    operation: str
    path: AbsolutePath


class _PathPair(_Path):
    old_path: AbsolutePath


class _Patch(Wire):
    format: str
    text: str


_ONE, _TWO = ("add", "delete", "modify"), ("move", "copy")
_Change: TypeAlias = Annotated[
    Any, Open("operation", (*((name, _Path) for name in _ONE), *((name, _PathPair) for name in _TWO)))
]


class _Diff(Wire):
    type: Literal["diff"] = "diff"
    changes: Array[_Change]
    patch: _Patch | None = None


class _Terminal(Wire):
    type: Literal["terminal"] = "terminal"
    terminal_id: str


ToolCallContent: TypeAlias = Annotated[
    Any, Open("type", (("content", _Content), ("diff", _Diff), ("terminal", _Terminal)))
]


class _Location(Wire):
    path: AbsolutePath
    line: Uint32 | None = None


class ToolCallUpdate(Wire):
    """The current state of a tool call; missing fields are unchanged."""

    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: Array[ToolCallContent] | None = None
    locations: Array[_Location] | None = None
    raw_input: JsonValue = None
    raw_output: JsonValue = None
    capabilities: JsonObject | None = None


class ToolCallUpdated(ToolCallUpdate):
    """The same as an update."""

    session_update: str


class ToolCallContentChunk(Wire):
    """A piece of a tool call's content."""

    session_update: str
    tool_call_id: str
    content: ToolCallContent


class _Output(Wire):
    data: Base64


class _ExitStatus(Wire):
    exit_code: Uint32 | None = None
    signal: str | None = None


class _Size(Wire):
    cols: Uint32
    rows: Uint32


class TerminalUpdate(Wire):
    """The current state of a terminal; missing fields are unchanged."""

    session_update: str
    terminal_id: str
    command: str | None = None
    cwd: AbsolutePath | None = None
    output: _Output | None = None
    exit_status: _ExitStatus | None = None
    size: _Size | None = None
    capabilities: JsonObject | None = None


class TerminalOutputChunk(Wire):
    """A piece of output; each piece is encoded by itself."""

    session_update: str
    terminal_id: str
    data: Base64
