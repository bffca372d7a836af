"""Child sessions and the messages between sessions; only with the client's capability `subagents` (unstable)."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Array, Known, Lenient, LenientItems, Marker, Patch, Variants, Wire
from claw_acp.schema.content import ContentBlock
from claw_acp.schema.errors import Error
from claw_acp.schema.prompt import Usage

IDLE_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error")


class RunningStateUpdate(Wire):
    """The child is working."""

    state: Literal["running"] = "running"


class IdleStateUpdate(Wire):
    """The child can be prompted again; `error` describes the failure when `stop_reason` is `error`."""

    state: Literal["idle"] = "idle"
    stop_reason: Lenient[Annotated[str, Known(values=IDLE_REASONS)]] = None
    error: Lenient[Error] = None
    usage: Lenient[Usage] = None


class RequiresActionStateUpdate(Wire):
    """The child waits for the user."""

    state: Literal["requires_action"] = "requires_action"


class UnknownStateUpdate(Wire):
    """The state of the child is unknown."""

    state: Literal["unknown"] = "unknown"


StateUpdate: TypeAlias = Annotated[
    RunningStateUpdate | IdleStateUpdate | RequiresActionStateUpdate | UnknownStateUpdate, Variants(tag="state")
]


class SubagentSessionCapabilities(Wire):
    """The operations on a child that the client may use; `cancel`: cancel its current work."""

    cancel: Lenient[Marker] = None


class SubagentUpdate(Patch):
    """A child of the enclosing session; its first update comes before anything else about it."""

    session_update: Literal["subagent_update"] = "subagent_update"
    session_id: str
    title: Lenient[str] = None
    description: Lenient[str] = None
    capabilities: Lenient[SubagentSessionCapabilities] = None
    state: Lenient[StateUpdate] = None
    cwd: str | None = None
    additional_directories: Array[str] | None = None


class SessionMessage(Patch):
    """A message that this session sent to another, or received from it."""

    session_update: Literal["session_message"] = "session_message"
    message_id: str
    sender_session_id: Lenient[str] = None
    recipient_session_id: Lenient[str] = None
    sender_message_id: Lenient[str] = None
    recipient_message_id: Lenient[str] = None
    content: LenientItems[ContentBlock] = None


class SessionMessageChunk(Wire):
    """A block added to such a message."""

    session_update: Literal["session_message_chunk"] = "session_message_chunk"
    message_id: str
    content: ContentBlock
