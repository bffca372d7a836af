"""The contract of a hook: code of an extension that is called around what an agent does."""

from typing import Protocol

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonObject


class ToolHook(Protocol):
    """Called around every tool call. What it raises fails that call, and no more."""

    async def before_call(self, tool: str, arguments: JsonObject) -> str | None:
        """Called before policy and person are asked; a text refuses the call and tells the model why."""
        ...

    async def after_call(self, tool: str, result: ToolResult) -> None:
        """Called when a call that was allowed has run, with what came of it."""
        ...
