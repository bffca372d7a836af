"""The one place where an exception becomes an ACP error."""

import logging
from typing import cast

from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.ids import new_id
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INTERNAL_ERROR

log = logging.getLogger(__name__)


def to_wire(error: BaseException, method: str, *, clock: Clock) -> RpcError:
    """The error to answer with.

    Our own errors keep their code and text. Anything else is an internal error: the client gets an id, the log gets the
    id and the traceback.
    """
    error = _sole_cause(error)
    if isinstance(error, RpcError):
        return error
    if isinstance(error, ClawError):
        return RpcError(error.code, error.message, error.data)
    incident = new_id("inc", clock=clock)
    log.error("request failed", exc_info=error, extra={"method": method, "incident": incident})
    return RpcError(INTERNAL_ERROR, f"Internal error in {method}: see log entry {incident}", {"incident": incident})


def _sole_cause(error: BaseException) -> BaseException:
    """The error inside an exception group, if it is the only one."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return _sole_cause(group.exceptions[0]) if len(group.exceptions) == 1 else group
    return error
