"""Events of the engine in the audit log, besides tool calls: modes, logins, runs of jobs."""

from functools import partial

from anyio import to_thread

from claw_acp.audit.log import AuditLog
from claw_acp.config.current import CurrentSettings
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.json_value import JsonValue


async def record(configuration: CurrentSettings, kind: str, **facts: JsonValue) -> None:
    """Append a line before something is done.

    Raises:
        AuditUnwritable: It cannot be written, so it must not be done.
    """
    section = configuration.for_folder(None).audit
    if section.use != "off":
        audit = AuditLog(configuration.locations, section=section, clock=SYSTEM_CLOCK)
        await to_thread.run_sync(partial(audit.record, kind, facts))
