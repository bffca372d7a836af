"""`session/update` of protocol 2."""

from typing import Annotated, Any, Literal, TypeAlias

from claw_acp.schema.base import NOT_EMPTY, Array, JsonObject, Uint64, Wire
from claw_acp.verify.v2.pieces import ContentBlock, Open
from claw_acp.verify.v2.tool_calls import TerminalOutputChunk, TerminalUpdate, ToolCallContentChunk, ToolCallUpdated


class _Chunk(Wire):
    session_update: str
    message_id: str
    content: ContentBlock


class _Message(Wire):
    session_update: str
    message_id: str
    content: Array[ContentBlock] | None = None


class _State(Wire):
    session_update: str
    state: str
    stop_reason: str | None = None
    error: JsonObject | None = None
    background: Array[JsonObject] | None = None


class _PlanEntry(Wire):
    content: str
    priority: str
    status: str


class _PlanItems(Wire):
    type: Literal["items"] = "items"
    plan_id: str
    entries: Array[_PlanEntry]


class _PlanUpdate(Wire):
    session_update: str
    plan: Annotated[Any, Open("type", (("items", _PlanItems),))]


class _Command(Wire):
    type: Literal["command"] = "command"
    name: str
    description: str
    input: JsonObject | None = None


Command: TypeAlias = Annotated[Any, Open("type", (("command", _Command),))]


class _Commands(Wire):
    session_update: str
    available_commands: Array[Command]


class _Choice(Wire):
    value: str
    name: str
    description: str | None = None


class _Group(Wire):
    group_id: str
    name: str
    options: Array[_Choice]


class _Option(Wire):
    config_id: str
    name: str
    type: str
    description: str | None = None
    category: str | None = None


class _Select(_Option):
    current_value: str
    options: Array[_Choice] | Array[_Group]


class _Switch(_Option):
    current_value: bool


Option: TypeAlias = Annotated[Any, Open("type", (("select", _Select), ("boolean", _Switch)))]


class _Options(Wire):
    session_update: str
    config_options: Array[Option]


class _Info(Wire):
    session_update: str
    title: str | None = None
    updated_at: str | None = None


class _Cost(Wire):
    amount: float
    currency: str


class _Usage(Wire):
    session_update: str
    used: Uint64
    size: Uint64
    cost: _Cost | None = None


class _Notice(Wire):
    session_update: str
    severity: str
    title: Annotated[str, NOT_EMPTY]
    description: str | None = None


class _Compaction(Wire):
    session_update: str
    compaction_id: str
    status: str
    summary: Array[ContentBlock] | None = None
    error: str | None = None


class _CompactionChunk(Wire):
    session_update: str
    compaction_id: str
    content: ContentBlock


_ROLES = ("user", "agent")
UPDATES: tuple[tuple[str, type[Wire]], ...] = (
    *((f"{role}_message_chunk", _Chunk) for role in _ROLES),
    *((f"{role}_message", _Message) for role in _ROLES),
    ("agent_thought_chunk", _Chunk),
    ("agent_thought", _Message),
    ("state_update", _State),
    ("tool_call_update", ToolCallUpdated),
    ("tool_call_content_chunk", ToolCallContentChunk),
    ("terminal_update", TerminalUpdate),
    ("terminal_output_chunk", TerminalOutputChunk),
    ("plan_update", _PlanUpdate),
    ("available_commands_update", _Commands),
    ("config_option_update", _Options),
    ("session_info_update", _Info),
    ("usage_update", _Usage),
    ("notice", _Notice),
    ("compaction_update", _Compaction),
    ("compaction_summary_chunk", _CompactionChunk),
)


class UpdateSession(Wire):
    """`session/update`."""

    session_id: str
    update: Annotated[Any, Open("sessionUpdate", UPDATES)]
