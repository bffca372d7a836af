"""Every check, in the order of the report, by version of the protocol."""

from collections.abc import Mapping

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
    v2,
)

_ALL: tuple[Check, ...] = (
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
CHECKS: Mapping[int, tuple[Check, ...]] = {
    1: _ALL,
    2: (*(check for check in _ALL if 2 in check.versions), *v2.CHECKS),
}
