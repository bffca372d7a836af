"""Every check of protocol 1, in the order of the report."""

from claw_acp.verify.check import Check
from claw_acp.verify.checks import (
    cancel,
    history,
    initialize,
    jsonrpc,
    permission,
    prompt,
    sessions,
    settings,
    shutdown,
    transport,
)

CHECKS: tuple[Check, ...] = (
    *initialize.CHECKS,
    *transport.CHECKS,
    *jsonrpc.CHECKS,
    *sessions.CHECKS,
    *prompt.CHECKS,
    *cancel.CHECKS,
    *permission.CHECKS,
    *history.CHECKS,
    *settings.CHECKS,
    *shutdown.CHECKS,
)
