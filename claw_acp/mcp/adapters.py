"""The tools and prompts of one server, as tools and commands of ours."""

import logging
from collections.abc import Sequence

from claw_acp.contracts.command import Command
from claw_acp.contracts.input_schema import usable_schema
from claw_acp.contracts.tool import Tool
from claw_acp.mcp.names import command_names, tool_name
from claw_acp.mcp.prompts import PromptCommand
from claw_acp.mcp.server import Server
from claw_acp.mcp.server_catalog import NOTHING, OfferedTool, ServerCatalog
from claw_acp.mcp.tools import ServerTool

MOST_PROMPTS = 100

log = logging.getLogger(__name__)


class ServerAdapters:
    """The adapters of one server, rebuilt when its offer changes."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._offer: ServerCatalog = NOTHING
        self._first: dict[str, OfferedTool] = {}  # as each tool described itself at first
        self._tools: Sequence[Tool] = ()
        self._commands: Sequence[Command] = ()

    def tools(self) -> Sequence[Tool]:
        """Its tools, in its order."""
        self._renew()
        return self._tools

    def commands(self) -> Sequence[Command]:
        """Its prompts."""
        self._renew()
        return self._commands

    def _renew(self) -> None:
        if self._offer is self.server.offer:
            return
        self._offer = self.server.offer
        self._tools = self._made_tools()
        prompts = self._offer.prompts[:MOST_PROMPTS]
        names = command_names(self.server.slug, [prompt.name for prompt in prompts])
        self._commands = [
            PromptCommand(prompt, name=name, server=self.server) for prompt, name in zip(prompts, names, strict=True)
        ]

    def _made_tools(self) -> Sequence[Tool]:
        made: dict[str, Tool] = {}
        for offered in self._offer.tools:
            name = tool_name(self.server.slug, offered.name)
            schema = usable_schema(offered.schema)
            if name in made or schema is None:
                reason = "it is listed twice" if name in made else "an argument has a name that models cannot use"
                log.warning(
                    "MCP tool left out", extra={"server": self.server.name, "tool": offered.name, "reason": reason}
                )
                continue
            altered = self._first.setdefault(name, offered) != offered
            made[name] = ServerTool(offered, name=name, schema=schema, server=self.server, altered=altered)
        return tuple(made.values())
