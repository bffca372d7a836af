"""The contracts of hooks: code that is called around what an agent does."""

from collections.abc import Sequence
from typing import Protocol

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall


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


class TurnEndHook(Protocol):
    """Called when a turn could end with the model's answer."""

    def calls_ran(self) -> None:
        """Called whenever calls of the model have run, to prepare what will be needed."""
        ...

    async def before_end(self) -> Sequence[ToolCall]:
        """The calls to run first, as if the model had made them; none: the turn may end.

        It is called again when they have run, until there are none or one has found something.
        """
        ...

    def has_news(self) -> bool:
        """Return whether those calls found something for the model to act on, so that the turn goes on."""
        ...
