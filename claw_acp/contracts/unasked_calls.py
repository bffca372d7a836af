"""The contract of what runs calls for which nobody is asked."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from claw_acp.contracts.tool import Access, Invocation
from claw_acp.core.json_value import JsonObject


class UnaskedCalls(Protocol):
    """Decides on calls that no model made, and runs them."""

    @abstractmethod
    def allows(self, tool: str, accesses: Sequence[Access]) -> bool | None:
        """The decision of the rules and the mode: yes, no, or (None) a person would be asked."""
        ...

    @abstractmethod
    async def run(self, tool: str, arguments: JsonObject, invocation: Invocation) -> bool:
        """Run a call, unless a person would have to be asked, or a rule or a hook objects; returns whether it ran.

        Raises:
            ToolError: It failed.
        """
        ...
