"""One variable of a process's environment, as MCP servers and terminals take it."""

from claw_acp.schema.base import Wire


class EnvVariable(Wire):
    """A name and its value."""

    name: str
    value: str
