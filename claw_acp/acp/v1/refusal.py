"""What an editor says of a call that it answered with an error; and whether it could not, or would not."""

import re
from collections.abc import Mapping

from claw_acp.rpc.errors import RpcError

_WOULD_NOT = re.compile(
    r"\b(denied|den(y|ies)|refus\w+|reject\w+|declin\w+|forbid\w*|disallow\w*|not (allowed|permitted)|permission\w*"
    r"|unauthori[sz]ed|EACCES|EPERM)\b",
    re.IGNORECASE,
)
"""The protocol has no code for it: clients that ask a person, or have rules of their own, say it in words only."""


def words(error: Exception) -> str:
    """What went wrong; SDKs put what really happened into `data.details`, below a message that says nothing."""
    if not isinstance(error, RpcError):
        return str(error)
    details = error.data.get("details") if isinstance(error.data, Mapping) else error.data
    return f"{error.message}: {details}" if isinstance(details, str) and details.strip() else error.message


def is_refusal(error: Exception) -> bool:
    """Whether the editor, or somebody at it, does not want this done. Then it must not be done behind its back."""
    return isinstance(error, RpcError) and _WOULD_NOT.search(words(error)) is not None
