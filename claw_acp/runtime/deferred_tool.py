"""Built-in tools on demand, loaded once a model looks for one or calls one, which most conversations never do."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallDraft, Invocation, Tool, ToolContext
from claw_acp.core.json_value import JsonObject
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref


class DeferredTool:
    """See `Tool`.

    Args:
        reference: The class of the tool.
    """

    on_demand = True

    def __init__(self, reference: Ref[Callable[[], Tool]]) -> None:
        self._reference = reference
        self._tool = Lazy(self._made)

    @property
    def spec(self) -> ToolSpec:
        """See `Tool`."""
        return self._tool().spec

    @property
    def parallel(self) -> bool:
        """See `Tool`."""
        return self._tool().parallel

    @property
    def draft(self) -> CallDraft | None:
        """The form of its unfinished calls."""
        return getattr(self._tool(), "draft", None)

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        return self._tool().prepare(arguments, context)

    def _made(self) -> Tool:
        return self._reference.load()()


if TYPE_CHECKING:
    _conforms: type[Tool] = DeferredTool
