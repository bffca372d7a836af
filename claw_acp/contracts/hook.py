"""The contract of a hook: code of an extension that is called around what an agent does."""

from typing import Protocol

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonObject


class ToolHook(Protocol):
    """Called around every tool call. An exception fails that call, and nothing else."""

    async def before_call(self, tool: str, arguments: JsonObject) -> str | None:
        """Called before the policy and the person are asked.

        A returned text refuses the call and is shown to the model.
        """
        ...

    async def after_call(self, tool: str, result: ToolResult) -> None:
        """Called with the result of a call that was allowed and has run."""
        ...
