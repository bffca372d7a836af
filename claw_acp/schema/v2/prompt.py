"""Prompts and their cancellation in protocol 2."""

from claw_acp.schema.base import Array, Wire
from claw_acp.schema.v2.content import ContentBlock


class PromptRequest(Wire):
    """A user's prompt. It is answered once it is part of the conversation, not once the work is done."""

    session_id: str
    prompt: Array[ContentBlock]


class CancelSessionNotification(Wire):
    """Cancel the work in the foreground, and the prompts that wait for it."""

    session_id: str


class CancelToolCallRequest(Wire):
    """Cancel one tool call; the turn goes on."""

    session_id: str
    tool_call_id: str


class CancelTerminalRequest(Wire):
    """End one program; everything else goes on."""

    session_id: str
    terminal_id: str
