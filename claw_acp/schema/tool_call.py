"""Tool calls as a client shows them."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import JsonValue, Lenient, LenientItems, Uint32, Variants, Wire
from claw_acp.schema.content import ContentBlock

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolCallStatus = Literal["pending", "in_progress", "completed", "failed"]


class Content(Wire):
    """A content block: text, an image or another kind."""

    type: Literal["content"] = "content"
    content: ContentBlock


class Diff(Wire):
    """A change to one file; no `old_text` means that the file is new."""

    type: Literal["diff"] = "diff"
    path: str
    new_text: str
    old_text: Lenient[str] = None


class Terminal(Wire):
    """The live output of a terminal made by `terminal/create`."""

    type: Literal["terminal"] = "terminal"
    terminal_id: str


ToolCallContent: TypeAlias = Annotated[Content | Diff | Terminal, Variants(tag="type")]


class ToolCallLocation(Wire):
    """A place a tool works at; `line` counts from 1."""

    path: str
    line: Lenient[Uint32] = None


class _ToolCallFields(Wire):
    tool_call_id: str
    name: Lenient[str] = None
    kind: Lenient[ToolKind] = None
    status: Lenient[ToolCallStatus] = None
    content: LenientItems[ToolCallContent] = None
    locations: LenientItems[ToolCallLocation] = None
    raw_input: JsonValue = None
    raw_output: JsonValue = None


class ToolCall(_ToolCallFields):
    """A new tool call. Without a kind it is `other`, without a status `pending`."""

    session_update: Literal["tool_call"] = "tool_call"
    title: str


class ToolCallUpdate(_ToolCallFields):
    """A change to a tool call: None is unchanged, and an array replaces the previous one."""

    title: Lenient[str] = None
