"""`session/update`: all notifications of an agent while it works or replays a session."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import NOT_EMPTY, Items, Known, Lenient, LenientItems, Patch, Uint64, Variants, Wire
from claw_acp.schema.content import ContentBlock
from claw_acp.schema.plans import Plan, PlanRemoved, PlanUpdate
from claw_acp.schema.session_settings import SessionConfigOption
from claw_acp.schema.subagents import SessionMessage, SessionMessageChunk, SubagentUpdate
from claw_acp.schema.tool_call import ToolCall, ToolCallUpdate

NoticeSeverity: TypeAlias = Annotated[str, Known(values=("info", "warning", "error"))]
CompactionStatus: TypeAlias = Annotated[str, Known(values=("in_progress", "completed", "failed", "cancelled"))]


class ContentChunk(Wire):
    """A piece of a message or a thought. Pieces with the same `message_id` belong together."""

    session_update: Literal["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]
    content: ContentBlock
    message_id: Lenient[str] = None


class ToolCallUpdated(ToolCallUpdate):
    """A `ToolCallUpdate` as a session update."""

    session_update: Literal["tool_call_update"] = "tool_call_update"


class UnstructuredCommandInput(Wire):
    """Free text after the command's name; `hint` is shown while there is none."""

    hint: str


AvailableCommandInput: TypeAlias = UnstructuredCommandInput


class AvailableCommand(Wire):
    """A command the user can type as `/name`; the name itself has no slash."""

    name: str
    description: str
    input: Lenient[AvailableCommandInput] = None


class AvailableCommandsUpdate(Wire):
    """All current commands."""

    session_update: Literal["available_commands_update"] = "available_commands_update"
    available_commands: Items[AvailableCommand]


class CurrentModeUpdate(Wire):
    """The current mode."""

    session_update: Literal["current_mode_update"] = "current_mode_update"
    current_mode_id: str


class ConfigOptionUpdate(Wire):
    """All options with their current values."""

    session_update: Literal["config_option_update"] = "config_option_update"
    config_options: Items[SessionConfigOption]


class SessionInfoUpdate(Patch):
    """A new title or time of the last change (ISO 8601); None given by name clears it."""

    session_update: Literal["session_info_update"] = "session_info_update"
    title: Lenient[str] = None
    updated_at: Lenient[str] = None


class Cost(Wire):
    """The cost so far; `currency` is an ISO 4217 code."""

    amount: float
    currency: str


class UsageUpdate(Wire):
    """The tokens in the context, and its size."""

    session_update: Literal["usage_update"] = "usage_update"
    used: Uint64
    size: Uint64
    cost: Lenient[Cost] = None


class Notice(Wire):
    """A notice that is not part of the conversation; only with the capability `session.notices`."""

    session_update: Literal["notice"] = "notice"
    severity: NoticeSeverity
    title: Annotated[str, NOT_EMPTY]
    description: Lenient[str] = None


class CompactionUpdate(Patch):
    """The start, a change or the end of a compaction; only with the capability `session.compaction`."""

    session_update: Literal["compaction_update"] = "compaction_update"
    compaction_id: str
    status: CompactionStatus
    summary: LenientItems[ContentBlock] = None
    error: Lenient[str] = None


class CompactionSummaryChunk(Wire):
    """A piece of the summary of a running compaction."""

    session_update: Literal["compaction_summary_chunk"] = "compaction_summary_chunk"
    compaction_id: str
    content: ContentBlock


SessionUpdate: TypeAlias = Annotated[
    ContentChunk
    | ToolCall
    | ToolCallUpdated
    | Plan
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk,
    Variants(tag="session_update"),
]


class SessionNotification(Wire):
    """One update of one session."""

    session_id: str
    update: SessionUpdate
