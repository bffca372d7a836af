"""The error codes of the provider plugin protocol, and the error class that each becomes.

The specification of the protocol, its kit and its host all take the codes from here. A plugin may add
`data.retryAfter`, the seconds to wait before the next request.
"""

from types import MappingProxyType
from typing import Final

from claw_acp.core.errors import (
    ContextTooLong,
    MalformedReply,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
)
from claw_acp.core.value import Value

CANCELLED: Final = -32800
"""The error code of a request that `$/cancel_request` cancelled."""


class PluginError(Value):
    """One error code.

    Attributes:
        code: As it stands in `error.code`.
        name: Its name in the specification, and in the kit.
        meaning: When a plugin returns it.
        kind: The error class it becomes; `kind.retryable` says whether the same request may succeed later.
    """

    code: int
    name: str
    meaning: str
    kind: type[ProviderError]


PLUGIN_ERRORS: Final = (
    PluginError(
        code=-31001, name="auth_failed", meaning="The service refused the credentials.", kind=ProviderAuthFailed
    ),
    PluginError(
        code=-31002, name="rate_limited", meaning="Too many requests; `data.retryAfter` says more.", kind=RateLimited
    ),
    PluginError(code=-31003, name="quota_exceeded", meaning="The account has no credit left.", kind=QuotaExceeded),
    PluginError(
        code=-31004,
        name="context_too_long",
        meaning="The conversation does not fit the model's window.",
        kind=ContextTooLong,
    ),
    PluginError(
        code=-31005,
        name="unavailable",
        meaning="The service cannot be reached, or failed on its side.",
        kind=ProviderUnavailable,
    ),
    PluginError(code=-31006, name="timeout", meaning="The service did not answer in time.", kind=ProviderTimeout),
    PluginError(
        code=-31007, name="model_not_found", meaning="The service does not know the model.", kind=ModelNotFound
    ),
    PluginError(
        code=-31008, name="request_rejected", meaning="The service refused the request as it is.", kind=RequestRejected
    ),
)
"""The protocol's own codes."""

_KINDS: Final = MappingProxyType(
    {
        **{error.code: error.kind for error in PLUGIN_ERRORS},
        -32700: MalformedReply,  # the plugin could not read what was valid JSON
        -32600: MalformedReply,
        -32601: RequestRejected,
        -32602: RequestRejected,
    }
)


def plugin_error_kind(code: int) -> type[ProviderError]:
    """The error class for a code.

    An undefined code says only that the plugin failed, perhaps temporarily: `ProviderUnavailable`.
    """
    return _KINDS.get(code, ProviderUnavailable)
