"""A turn: the prompt, its end, and ways to stop it."""

from typing import Literal

from claw_acp.schema.base import Array, RequestId, Wire
from claw_acp.schema.content import ContentBlock

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class PromptRequest(Wire):
    """What the user says. The response ends the turn."""

    session_id: str
    prompt: Array[ContentBlock]


class PromptResponse(Wire):
    """Why the turn ended."""

    stop_reason: StopReason


class CancelNotification(Wire):
    """Stop the turn that runs in this session; its prompt is then answered with `cancelled`."""

    session_id: str


class CancelRequestNotification(Wire):
    """Stop the request with this id, whichever method it called. Either side may send it."""

    request_id: RequestId
