"""The error that a provider program raises when it cannot answer."""

from typing import Literal

from claw_acp.core.plugin_errors import PLUGIN_ERRORS

Reason = Literal[
    "auth_failed",
    "rate_limited",
    "quota_exceeded",
    "context_too_long",
    "unavailable",
    "timeout",
    "model_not_found",
    "request_rejected",
]
"""The protocol's own errors, described in its specification."""

_CODES = {error.name: error.code for error in PLUGIN_ERRORS}


class ChatFailed(Exception):
    """Raise it in a chat handler: the request is answered with an error that claw-acp understands.

    Args:
        reason: The kind of error; it decides what claw-acp does next (wait, use another key or model, ask the person).
        message: What happened, for people.
        retry_after: Seconds to wait before trying again, if that is known.
    """

    def __init__(self, reason: Reason, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = _CODES[reason]
        self.message = message
        self.data = None if retry_after is None else {"retryAfter": retry_after}
