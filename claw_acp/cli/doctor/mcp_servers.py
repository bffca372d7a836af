"""The checks of the configured MCP servers. None is started: that may take long, and do anything."""

import os
import shutil
from collections.abc import Iterator

from claw_acp.cli.doctor.check import Check
from claw_acp.config.model import McpSection
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from claw_acp.core.redaction import redact


def server_checks(settings: Settings) -> Iterator[Check]:
    """One line for each server."""
    for name, entry in settings.mcp.items():
        yield _server(name, entry, settings)


def _server(name: str, entry: McpSection, settings: Settings) -> Check:
    subject = f"mcp {name}"
    what = redact(entry.url or " ".join((entry.command or "", *entry.args)))
    if not entry.enabled:
        return Check(level="ok", subject=subject, detail=f"{what} (switched off)")
    problem = _program_problem(entry, settings) or _missing_text(entry, settings)
    if problem is None:
        return Check(level="ok", subject=subject, detail=f"{what} (started with each session)")
    return Check(
        level="warn", subject=subject, detail=f"{what}: {problem}", advice=f"correct [mcp.{name}], or remove it"
    )


def _program_problem(entry: McpSection, settings: Settings) -> str | None:
    """The reason its program cannot be started, without trying."""
    if entry.command is None:
        return None
    if entry.cwd is not None and not entry.cwd.is_dir():
        return f"{entry.cwd} is no directory"
    if shutil.which(entry.command, path=settings.environ.get("PATH")):
        return None
    where = "" if os.sep in entry.command else " on the PATH"
    return f"there is no program {entry.command}{where}"


def _missing_text(entry: McpSection, settings: Settings) -> str | None:
    """The reason one of its variables or headers cannot be resolved; keyrings and commands are not tried."""
    for texts in (entry.env, entry.headers):
        for key, text in texts.items():
            try:
                if not text.reference.slow:
                    text.reference.resolve(settings.environ)
            except ConfigError as error:
                return f"{key}: {error.message}"
    return None
