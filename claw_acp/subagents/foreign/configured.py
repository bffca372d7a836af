"""The agents of the settings: other programs that tasks can be given to."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from claw_acp.config.delegation_sections import AgentSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.agent_program import AgentProgram
from claw_acp.contracts.mcp_server import ClientServer, McpServerSpec
from claw_acp.core.errors import ConfigError
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from claw_acp.mcp.server_config import Plan

log = logging.getLogger(__name__)

PLANS: "Ref[Callable[..., Sequence[Plan]]]" = Ref("claw_acp.mcp.server_config:plans")
"""By name: few agents are given servers."""

DEPTH: Final = "CLAW_ACP_AGENT_DEPTH"
"""The variable by which a program of ours knows how deep it is; else two could give each other tasks for ever."""


def configured_agents(
    settings: Settings, *, servers: Sequence[McpServerSpec], secrets: SecretCache
) -> Sequence[AgentProgram]:
    """The agents that the settings name and enable, in order; none in a program that is too deep a subagent itself.

    Args:
        settings: The settings.
        servers: The MCP servers of the session's clients.
        secrets: Reads keys that take time to get.
    """
    if depth_of(settings.environ) >= settings.delegation.depth:
        return ()
    return [
        _program(name, section, settings, servers=servers, secrets=secrets)
        for name, section in settings.agents.items()
        if section.enabled
    ]


def depth_of(environ: Mapping[str, str]) -> int:
    """The number of programs above this one that have it carry out a task."""
    depth = environ.get(DEPTH, "")
    return int(depth) if depth.isdecimal() and len(depth) < 4 else 0


def _program(
    name: str, section: AgentSection, settings: Settings, *, servers: Sequence[McpServerSpec], secrets: SecretCache
) -> AgentProgram:
    return AgentProgram(
        name=name,
        description=" ".join(section.description.split()) or "another program, with a model and tools of its own",
        scope="settings",
        command=section.command,
        args=section.args,
        environment=partial(_environment, name, section, settings.environ, secrets),
        servers=partial(_servers, name, section.mcp, settings, servers, secrets),
        cwd=section.cwd,
        widest_mode=section.mode,
        sandbox=section.sandbox,
        network=section.network,
        writable=section.writable,
        start_timeout=section.start_timeout,
        timeout=section.timeout,
    )


def _environment(
    name: str, section: AgentSection, environ: Mapping[str, str], secrets: SecretCache
) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for variable, text in section.env.items():
        try:
            found[variable] = text.get(environ, secrets)
        except ConfigError as error:
            raise ConfigError(f"agents.{name}.env.{variable}: {error.message}") from error
    return found


def _servers(
    agent: str,
    names: Sequence[str],
    settings: Settings,
    servers: Sequence[McpServerSpec],
    secrets: SecretCache,
) -> Sequence[McpServerSpec]:
    """The servers with these names, as far as another program can reach them. Blocks: keys may have to be read."""
    if not names:
        return ()
    found = [plan.resolved(secrets) for plan in PLANS.load()(servers, settings) if plan.name in names]
    passed = [server for server in found if not isinstance(server, ClientServer)]
    if left := set(names) - {server.name for server in passed}:
        log.warning(
            "servers not passed on: not there, or in the editor", extra={"agent": agent, "servers": sorted(left)}
        )
    return passed
