"""The checks of the configured MCP servers and agents. None is started: that may take long, and do anything."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping

from claw_acp.cli.doctor.check import Check
from claw_acp.config.delegation_sections import AgentSection
from claw_acp.config.model import McpSection
from claw_acp.config.secret_text import SecretText
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
    problem = _program_problem(entry, settings) or _missing_text((entry.env, entry.headers), settings)
    if problem is None:
        return Check(level="ok", subject=subject, detail=f"{what} (started with each session)")
    return Check(
        level="warn", subject=subject, detail=f"{what}: {problem}", advice=f"correct [mcp.{name}], or remove it"
    )


def agent_checks(settings: Settings) -> Iterator[Check]:
    """One line for each agent that is another program."""
    for name, entry in settings.agents.items():
        yield _agent(name, entry, settings)


def _agent(name: str, entry: AgentSection, settings: Settings) -> Check:
    subject, what = f"agent {name}", redact(" ".join((entry.command, *entry.args)))
    if not entry.enabled:
        return Check(level="ok", subject=subject, detail=f"{what} (switched off)")
    missing = next((f"{path} is no directory" for path in entry.writable if not path.is_dir()), None)
    problem = _program_problem(entry, settings) or _missing_text((entry.env,), settings) or missing
    if problem is None:
        return Check(level="ok", subject=subject, detail=f"{what} ({_where(entry)})")
    advice = f"correct [agents.{name}], or remove it"
    return Check(level="warn", subject=subject, detail=f"{what}: {problem}", advice=advice)


def _where(entry: AgentSection) -> str:
    """Where it runs when it gets a task."""
    if not entry.sandbox:
        return "gets tasks by its name, and runs outside of the sandbox"
    reached = {"none": "without network", "asked": "where you are asked about each host", "open": "with network"}
    return f"gets tasks by its name, and runs in the sandbox, {reached[entry.network]}"


def _program_problem(entry: McpSection | AgentSection, settings: Settings) -> str | None:
    """The reason its program cannot be started, without trying."""
    if entry.command is None:
        return None
    if entry.cwd is not None and not entry.cwd.is_dir():
        return f"{entry.cwd} is no directory"
    if shutil.which(entry.command, path=settings.environ.get("PATH")):
        return None
    where = "" if os.sep in entry.command else " on the PATH"
    return f"there is no program {entry.command}{where}"


def _missing_text(tables: Iterable[Mapping[str, SecretText]], settings: Settings) -> str | None:
    """The reason one of its variables or headers cannot be resolved; keyrings and commands are not tried."""
    for texts in tables:
        for key, text in texts.items():
            try:
                if not text.reference.slow:
                    text.reference.resolve(settings.environ)
            except ConfigError as error:
                return f"{key}: {error.message}"
    return None
