"""The tools by which a model looks at its background tasks, and ends them."""

from claw_acp.contracts.delegation import BackgroundTasks, Delegation
from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.messages import TextPart
from claw_acp.subagents.delegate import TASK_CANCEL, TASK_STATUS
from claw_acp.subagents.report_text import NOTE, report_result, task_line
from claw_acp.tools.parameters import Parameters, TypedTool, argument

LONGEST_WAIT = 300  # seconds


class StatusParameters(Parameters):
    """A task to look at."""

    task: int = argument(default=0, ge=0, description="Its number; by default all are listed.")
    wait: int = argument(default=0, ge=0, le=LONGEST_WAIT, description="Seconds to wait for its end at most.")


class TaskStatusTool(TypedTool[StatusParameters]):
    """Shows background tasks."""

    name = TASK_STATUS
    on_demand = True
    description = "List the tasks in the background, or show how far one is, with its report once it has ended."
    parameters = StatusParameters
    parallel = True

    def bind(self, parameters: StatusParameters, context: ToolContext) -> Invocation:
        """A look at one task, or at all."""
        return _Looking(parameters, context=context)


class _Looking(Invocation):
    limits_itself = True

    def __init__(self, parameters: StatusParameters, *, context: ToolContext) -> None:
        self._parameters = parameters
        self._tasks = _tasks(context)
        self._clock = context.clock
        of = f"task {parameters.task}" if parameters.task else "the tasks"
        self.view = CallView(title=f"Look at {of} in the background", kind="think")

    async def run(self) -> ToolResult:
        number = self._parameters.task
        if not number:
            lines = [task_line(task) for task in await self._tasks.all()]
            return ToolResult(parts=(TextPart(text="\n".join(lines) or "There are no tasks in the background."),))
        found = await self._tasks.report(number, within=self._parameters.wait)
        if found is None:
            raise ToolError(f"There is no task {number}. `{TASK_STATUS}` without a number lists all.")
        task, report = found
        if task.status is None:
            note = f"{task_line(task)}. What it said last follows; {NOTE[0].lower()}{NOTE[1:]}"
            return report_result(report, clock=self._clock, note=note)
        await self._tasks.mark_reported(number)
        return report_result(report, clock=self._clock, note=f"{task_line(task)}. {NOTE}")


class CancelParameters(Parameters):
    """A task to end."""

    task: int = argument(ge=1, description="Its number.")


class TaskCancelTool(TypedTool[CancelParameters]):
    """Ends a background task."""

    name = TASK_CANCEL
    on_demand = True
    description = "End a task in the background. What it has changed so far stays."
    parameters = CancelParameters

    def bind(self, parameters: CancelParameters, context: ToolContext) -> Invocation:
        """The end of one task."""
        return _Ending(parameters.task, tasks=_tasks(context))


class _Ending(Invocation):
    def __init__(self, number: int, *, tasks: BackgroundTasks) -> None:
        self._number = number
        self._tasks = tasks
        self.view = CallView(title=f"End task {number} in the background", kind="think")

    async def run(self) -> ToolResult:
        if not await self._tasks.cancel(self._number):
            raise ToolError(f"Task {self._number} is not at work here. `{TASK_STATUS}` lists all.")
        return ToolResult(parts=(TextPart(text=f"Task {self._number} was ended."),))


def _tasks(context: ToolContext) -> BackgroundTasks:
    """The background tasks.

    Raises:
        ToolError: There are none of any kind here.
    """
    return context.needed(Delegation, otherwise="There are no tasks in the background here.").background()
