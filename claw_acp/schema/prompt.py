"""A turn: the prompt, its end, and ways to stop it."""

from typing import Literal

from claw_acp.schema.base import Array, Lenient, RequestId, Uint64, Wire
from claw_acp.schema.content import ContentBlock

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class PromptRequest(Wire):
    """What the user says. The response ends the turn."""

    session_id: str
    prompt: Array[ContentBlock]


class Usage(Wire):
    """Tokens (unstable)."""

    total_tokens: Uint64
    input_tokens: Uint64
    output_tokens: Uint64
    thought_tokens: Lenient[Uint64] = None
    cached_read_tokens: Lenient[Uint64] = None
    cached_write_tokens: Lenient[Uint64] = None


class PromptResponse(Wire):
    """Why the turn ended, and what it took."""

    stop_reason: StopReason
    usage: Lenient[Usage] = None


class CancelNotification(Wire):
    """Stop the turn that runs in this session; its prompt is then answered with `cancelled`."""

    session_id: str


class CancelRequestNotification(Wire):
    """Stop the request with this id, whichever method it called. Either side may send it."""

    request_id: RequestId
