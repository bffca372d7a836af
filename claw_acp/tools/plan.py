"""The agent's plan, shown to the person."""

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, PlanPort, ToolContext, ToolResult
from claw_acp.core.events import PlanEntry, PlanPriority, PlanStatus
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import amount
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class PlanStep(Parameters):
    """One step."""

    content: str = argument(min_length=1, max_length=1_000, description="What is to be done, in a few words.")
    priority: PlanPriority = argument(default="medium", description="How much it matters.")
    status: PlanStatus = argument(default="pending", description="How far it is.")


class PlanParameters(Parameters):
    """A whole plan."""

    entries: list[PlanStep] = argument(
        max_length=100, description="All steps in order, done ones too; they replace the plan. Empty: no plan."
    )


class Plan(TypedTool[PlanParameters]):
    """Publishes the agent's plan."""

    name = "plan"
    draft = CallDraft(kind="think", verb="Update the plan")
    description = (
        "Show the person your plan for a task of several steps, and keep it up to date: send the whole list each time, "
        "with one step in_progress while you work and steps completed as soon as they are done."
    )
    parameters = PlanParameters

    def bind(self, parameters: PlanParameters, context: ToolContext) -> Invocation:
        """The invocation of one new plan."""
        return _Planning(parameters.entries, context=context)


class _Planning(Invocation):
    def __init__(self, steps: list[PlanStep], *, context: ToolContext) -> None:
        self._entries = [PlanEntry(content=step.content, priority=step.priority, status=step.status) for step in steps]
        self._context = context
        self.view = CallView(title="Update the plan" if steps else "Clear the plan", kind="think")

    async def run(self) -> ToolResult:
        plan = self._context.port(PlanPort)
        if plan is not None:
            await plan.publish(self._entries)
        return ToolResult(parts=(TextPart(text=self._summary()),))

    def _summary(self) -> str:
        if not self._entries:
            return "The plan is cleared."
        by_status = [entry.status for entry in self._entries]
        running = by_status.count("in_progress")
        text = f"The plan has {amount(len(by_status), 'step')}, {by_status.count('completed')} completed."
        if running > 1:
            text += f" {running} are in_progress; keep it to one, so that the person sees what you are doing."
        return text
