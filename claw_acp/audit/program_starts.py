"""The starts of programs that work for a session besides its commands, in the audit log before they happen."""

from typing import Literal, TypeAlias

from anyio import to_thread

from claw_acp.audit.log import AuditLog
from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import find_locations
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.environment import current_environment
from claw_acp.core.json_value import JsonValue
from claw_acp.core.redaction import redact
from claw_acp.telemetry.context import bound_ids

Role: TypeAlias = Literal["MCP server", "language server", "provider program", "attached program"]


async def record_start(role: Role, *, name: str, program: str) -> None:
    """Append a line about a program that is going to be started, or about a server that is going to be connected to.

    Args:
        role: Its work.
        name: Its name in the settings.
        program: Its path, or the host of a server; its arguments may hold secrets.

    Raises:
        AuditUnwritable: It cannot be recorded, so it must not be started.
    """
    facts: dict[str, JsonValue] = {"role": role, "name": redact(name), "program": redact(program)}
    if (session := bound_ids().get("session")) is not None:
        facts["session"] = session
    await to_thread.run_sync(_record, facts)


def _record(facts: dict[str, JsonValue]) -> None:
    environ = current_environment()
    locations = find_locations(environ)
    section = CurrentSettings(locations=locations, environ=environ).for_folder(None).audit
    AuditLog(locations, section=section, clock=SYSTEM_CLOCK).record("program", facts)
