"""The tree of errors. Each says what happened, where, and what the reader can do; each has a JSON-RPC code.

Application codes stay outside -32768..-32000, except where ACP itself defines one (-32000, -32002).
The text of a `ClawError` is shown to people and models: it never holds a secret.
"""

from typing import TYPE_CHECKING, ClassVar

from claw_acp.core.json_value import JsonObject

if TYPE_CHECKING:
    from claw_acp.core.messages import Usage


class ClawError(Exception):
    """An error that a person can understand and act on."""

    code: ClassVar[int] = -31000

    def __init__(self, message: str, *, data: JsonObject | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


# ------------------------------------------------------------------ sessions


class SessionNotFound(ClawError):
    """No such session, or it is not open on this connection. ACP code -32002 with `data.sessionId`."""

    code = -32002

    def __init__(self, session_id: str, message: str | None = None) -> None:
        super().__init__(message or f"session {session_id} was not found", data={"sessionId": session_id})


class SessionBusy(ClawError):
    """Another process is running a turn in this session, or its queue of prompts is full."""

    code = -31010


class ServerBusy(ClawError):
    """Too many requests are being handled at once; wait for some of the answers and try again."""

    code = -31011


class AgentLost(ClawError):
    """The process that worked on a request has ended; another one takes over, and the journal has what was done."""

    code = -31012
    TEXT: ClassVar[str] = (
        "the agent's process ended while it worked on this; what was done is kept in the session. Send it again"
    )


class AuthRequired(ClawError):
    """No usable credentials for the chosen model. ACP code -32000."""

    code = -32000


class InvalidRequest(ClawError):
    """A parameter has an impossible value (JSON-RPC -32602)."""

    code = -32602


# ------------------------------------------------------------------ storage and configuration


class StoreError(ClawError):
    """The session store cannot be used: corrupt, written by a newer version, unwritable."""

    code = -31020


class ConfigError(ClawError):
    """The configuration is wrong; the text names file, line, key and the nearest valid name."""

    code = -31021


class BrokenExtension(ClawError):
    """An extension, or a built-in part named by a string, cannot be loaded; the text names it."""

    code = -31022


# ------------------------------------------------------------------ tools and files


class ToolError(ClawError):
    """A tool could not do its work; the text goes to the model, which can act on it."""

    code = -31030


class InvalidArguments(ToolError):
    """The model's arguments do not fit the tool's schema."""

    code = -31031


class NoAnswer(ToolError):
    """Another program did not answer; the text holds no word of it."""

    code = -31034


class FileConflict(ToolError):
    """The file changed since it was last read."""

    code = -31033


# ------------------------------------------------------------------ providers


class ProviderError(ClawError):
    """A model request failed. `retryable` says whether the same request may succeed later.

    Attributes:
        provider: The provider's name, as configured.
        model: The model that was asked, by its own name.
        status: The HTTP status, if there was one.
        retry_after: Seconds the vendor asked us to wait, if it did.
        usage: What the failed attempt took, if the vendor said; it is billed.
    """

    code = -31100
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        provider: str = "",
        model: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        usage: "Usage | None" = None,
    ) -> None:
        data: dict[str, str | int | float] = {"kind": type(self).__name__}
        if provider:
            data["provider"] = provider
        if model:
            data["model"] = model
        if status is not None:
            data["status"] = status
        if retry_after is not None:
            data["retryAfter"] = retry_after
        super().__init__(message, data=data)
        self.provider = provider
        self.model = model
        self.status = status
        self.retry_after = retry_after
        self.usage = usage

    def concerns(self, model: str, *, usage: "Usage | None" = None) -> None:
        """Add the model that was asked and the tokens it took, where they are missing; the text names the model too."""
        self.usage = self.usage or usage
        if not model or self.model:
            return
        self.model = model
        self.data = {**(self.data or {}), "model": model}
        if model not in self.message:
            self.message = f"{self.message} (Model: {model}.)"
            self.args = (self.message,)


class ProviderAuthFailed(ProviderError):
    """The vendor refused the key (401, 403)."""

    code = -31101


class RateLimited(ProviderError):
    """Too many requests (429); `retry_after` says how long to wait when the vendor did."""

    code = -31102
    retryable = True


class QuotaExceeded(ProviderError):
    """The account has no credit left; waiting does not help."""

    code = -31103


class ContextTooLong(ProviderError):
    """The conversation no longer fits the model's window; shorten it and try again."""

    code = -31104


class ProviderUnavailable(ProviderError):
    """The vendor's side failed (5xx, 408, 409, overloaded)."""

    code = -31105
    retryable = True


class ProviderTimeout(ProviderError):
    """No answer, or no further byte of one, within the limit."""

    code = -31106
    retryable = True


class ProviderUnreachable(ProviderError):
    """No connection: refused, unknown host, TLS failure."""

    code = -31107
    retryable = True


class StreamInterrupted(ProviderError):
    """The answer broke off midway."""

    code = -31108
    retryable = True


class MalformedReply(ProviderError):
    """The vendor answered with something its own API does not describe."""

    code = -31109


class EmptyAnswer(ProviderError):
    """The model answered with neither text nor tool calls."""

    code = -31110
    retryable = True


class ModelNotFound(ProviderError):
    """The vendor does not know this model."""

    code = -31111


class ModelNotAllowed(ModelNotFound):
    """The account may not use this model; its key is good for others."""

    code = -31114


class RequestRejected(ProviderError):
    """The vendor rejected the request (other 4xx); the text quotes its message."""

    code = -31112


class ToolsUnsupported(RequestRejected):
    """The model does not support native tools; they can still be described to it in text."""

    code = -31113


class ToolUseRefused(ToolsUnsupported):
    """The service failed on tools this once: it cannot parse its model's call, or does not support this tool choice."""

    code = -31117


class ImagesUnsupported(RequestRejected):
    """The model does not accept images; the conversation can go on without them."""

    code = -31118


class ServiceMisconfigured(RequestRejected):
    """No request can reach the service as configured: a wrong address, proxy or certificate file."""

    code = -31115


class ProviderFailed(ProviderError):
    """The provider's own code failed with an unexpected error; the log has it."""

    code = -31116


# ------------------------------------------------------------------ money


class BudgetReached(ClawError):
    """The next model request would exceed a budget, and no person allowed that."""

    code = -31120
