"""A tool for a model to think between calls."""

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.events import PartContent
from claw_acp.core.messages import TextPart
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class ThinkParameters(Parameters):
    """A thought."""

    thought: str = argument(min_length=1, description="What you are thinking about.")


class Think(TypedTool[ThinkParameters]):
    """Only shows the thought: helps models without thinking of their own."""

    name = "think"
    draft = CallDraft(kind="think", verb="Think")
    description = (
        "Think something through before going on: weigh what you found, check a plan against the request. "
        "It changes nothing and gets no new information; the person can read it."
    )
    parameters = ThinkParameters
    parallel = True

    def bind(self, parameters: ThinkParameters, context: ToolContext) -> Invocation:  # noqa: ARG002 - needs nothing
        """The invocation of one thought."""
        return _Thinking(parameters.thought)


class _Thinking(Invocation):
    def __init__(self, thought: str) -> None:
        self._thought = thought
        self.view = CallView(title="Think", kind="think")

    async def run(self) -> ToolResult:
        return ToolResult(parts=(TextPart(text="Noted."),), content=(PartContent(part=TextPart(text=self._thought)),))
