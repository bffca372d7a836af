"""A turn: the prompt, its end, and ways to stop it."""

from typing import Literal

from claw_acp.schema.base import Array, Lenient, RequestId, Uint64, Wire
from claw_acp.schema.content import ContentBlock

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class PromptRequest(Wire):
    """A user's prompt. The response ends the turn."""

    session_id: str
    prompt: Array[ContentBlock]


class Usage(Wire):
    """Token counts (unstable)."""

    total_tokens: Uint64
    input_tokens: Uint64
    output_tokens: Uint64
    thought_tokens: Lenient[Uint64] = None
    cached_read_tokens: Lenient[Uint64] = None
    cached_write_tokens: Lenient[Uint64] = None


class PromptResponse(Wire):
    """The reason the turn ended, and its usage."""

    stop_reason: StopReason
    usage: Lenient[Usage] = None


class CancelNotification(Wire):
    """Cancel the running turn of this session; its prompt is then answered with `cancelled`."""

    session_id: str


class CancelRequestNotification(Wire):
    """Cancel the request with this id, of any method. Either side may send it."""

    request_id: RequestId
