"""Agents that are other programs, and speak the Agent Client Protocol."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from claw_acp.contracts.delegation import Agent
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.mcp_server import McpServerSpec
from claw_acp.contracts.sandbox import ProgramNeeds
from claw_acp.contracts.tool import Reach
from claw_acp.core.mode import MODES, Mode
from claw_acp.core.value import Value


class AgentProgram(Agent):
    """An agent that is another program.

    Attributes:
        command: The program.
        args: Its arguments.
        environment: Returns the variables that it gets besides ours. Blocks: keys may have to be read. Raises
            ConfigError.
        cwd: The directory it runs in; None: that of the session.
        widest_mode: The widest mode in which it works.
        sandbox: Whether it runs in the sandbox.
        network: What it reaches from there.
        writable: Directories of its own.
        servers: Returns the MCP servers that it gets.
        start_timeout: Seconds until it must have opened a session.
        timeout: Seconds it may work without saying anything.
    """

    command: str
    args: tuple[str, ...]
    environment: Callable[[], Mapping[str, str]]
    servers: Callable[[], Sequence[McpServerSpec]] = tuple
    cwd: Path | None = None
    widest_mode: Mode = MODES[-1]
    sandbox: bool = True
    network: Literal["none", "asked", "open"] = "asked"
    writable: tuple[Path, ...] = ()
    start_timeout: float = 60
    timeout: float = 900

    @property
    def reach(self) -> Reach:
        """The reach that its sandbox leaves it."""
        if not self.sandbox:
            return "machine"
        return "project" if self.network == "none" else "network"

    @property
    def needs(self) -> ProgramNeeds:
        """Its needs in the sandbox."""
        return ProgramNeeds(writable=self.writable, open_network=self.network == "open")

    @property
    def source(self) -> str:
        """The name of its text where that is marked as untrusted."""
        return f"the agent {self.name}"


class ProgramLaunch(Value):
    """A program that is to carry out a task, and the sandbox for it; None: it runs outside."""

    program: AgentProgram
    sandbox: CommandSandbox | None = None
