"""The checkpoint of the audit log at the end of an engine: what it recorded cannot be cut off unnoticed later."""

import logging
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.audit.log import AuditLog
from claw_acp.config.current import CurrentSettings
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import StoreError

log = logging.getLogger(__name__)

_SIGNING: Final = 0.5  # seconds; the library takes 50 ms to load, and a disk may be busy


async def sign_last_line(configuration: CurrentSettings) -> None:
    """Sign the last line of the audit log, if it is not yet and that takes no longer than an end may take."""
    with anyio.move_on_after(_SIGNING, shield=True):
        await to_thread.run_sync(_sign, configuration, abandon_on_cancel=True)


def _sign(configuration: CurrentSettings) -> None:
    section = configuration.for_folder(None).audit
    if section.use == "off":
        return
    try:
        AuditLog(configuration.locations, section=section, clock=SYSTEM_CLOCK).checkpoint()
    except StoreError as error:
        log.warning("no last checkpoint of the audit log", extra={"reason": error.message})
