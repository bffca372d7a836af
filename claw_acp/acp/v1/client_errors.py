"""Errors of a client in answer to our requests, told apart by code: their text is in any language."""

from collections.abc import Mapping

from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import METHOD_NOT_FOUND


def words(error: Exception) -> str:
    """The reason for an error; SDKs put it into `data.details`, below a generic message."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if not isinstance(error, RpcError):
        return str(error)
    details = error.data.get("details") if isinstance(error.data, Mapping) else error.data
    return f"{error.message}: {details}" if isinstance(details, str) and details.strip() else error.message


def is_unsupported(error: Exception) -> bool:
    """Return whether the client lacks the method, whatever its capabilities say. Any other error is its answer."""
    return isinstance(error, RpcError) and error.code == METHOD_NOT_FOUND
