"""Child sessions and the messages between sessions; only with the client's capability `subagents` (unstable)."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Array, Known, Lenient, LenientItems, Marker, Patch, Variants, Wire
from claw_acp.schema.content import ContentBlock
from claw_acp.schema.errors import Error
from claw_acp.schema.prompt import Usage

IDLE_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error")


class RunningStateUpdate(Wire):
    """The child works."""

    state: Literal["running"] = "running"


class IdleStateUpdate(Wire):
    """The child can be prompted again; `error` says what failed when `stop_reason` is `error`."""

    state: Literal["idle"] = "idle"
    stop_reason: Lenient[Annotated[str, Known(values=IDLE_REASONS)]] = None
    error: Lenient[Error] = None
    usage: Lenient[Usage] = None


class RequiresActionStateUpdate(Wire):
    """The child waits for a person."""

    state: Literal["requires_action"] = "requires_action"


class UnknownStateUpdate(Wire):
    """Nobody can tell what the child does."""

    state: Literal["unknown"] = "unknown"


StateUpdate: TypeAlias = Annotated[
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate, Variants(tag="state")
]


class SubagentSessionCapabilities(Wire):
    """What the client may do to one child; `cancel`: end its current work."""

    cancel: Lenient[Marker] = None


class SubagentUpdate(Patch):
    """The enclosing session has this child; the first one of a child comes before anything else about it."""

    session_update: Literal["subagent_update"] = "subagent_update"
    session_id: str
    title: Lenient[str] = None
    description: Lenient[str] = None
    capabilities: Lenient[SubagentSessionCapabilities] = None
    state: Lenient[StateUpdate] = None
    cwd: str | None = None
    additional_directories: Array[str] | None = None


class SessionMessage(Patch):
    """A message that this session sent to another, or got from it."""

    session_update: Literal["session_message"] = "session_message"
    message_id: str
    sender_session_id: Lenient[str] = None
    recipient_session_id: Lenient[str] = None
    sender_message_id: Lenient[str] = None
    recipient_message_id: Lenient[str] = None
    content: LenientItems[ContentBlock] = None


class SessionMessageChunk(Wire):
    """Such a message grows by one block."""

    session_update: Literal["session_message_chunk"] = "session_message_chunk"
    message_id: str
    content: ContentBlock
