"""Jobs for later: the model adds, lists and removes those of its project."""

from collections.abc import Mapping
from typing import Literal

from claw_acp.contracts.schedule import Schedules
from claw_acp.contracts.tool import ActsLater, CallDraft, CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.errors import ClawError, ToolError
from claw_acp.core.events import ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import fenced, shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

TIMES = ("at", "every", "cron")


class ScheduleParameters(Parameters):
    """What to do with which job."""

    action: Literal["add", "list", "remove"] = argument(description="What to do.")
    name: str = argument(
        default="", max_length=64, description="The job's name: letters, digits, - and _. Needed to add or remove."
    )
    prompt: str = argument(
        default="",
        max_length=20_000,
        description="add: all that a model needs to know to do the job by itself, since it will not see this "
        "conversation.",
    )
    at: str = argument(
        default="", max_length=64, description='add, once: "2026-12-01 09:00" in time_zone, or "+20m" from now on.'
    )
    every: str = argument(default="", max_length=64, description='add, again and again: "30m", "2h", "1d".')
    cron: str = argument(
        default="",
        max_length=200,
        description='add: minute, hour, day of the month, month and day of the week, as in "0 9 * * 1-5".',
    )
    time_zone: str = argument(
        default="", max_length=64, description='Of at and cron, as in "Europe/Berlin"; by default this machine\'s.'
    )

    def conflict(self) -> str:
        """See `Parameters`."""
        given = [time for time in TIMES if getattr(self, time)]
        if self.action != "list" and not self.name:
            return f"{self.action} needs a name"
        if self.action == "add" and (len(given) != 1 or not self.prompt.strip()):
            return "add needs a prompt and exactly one of at, every and cron"
        return ""

    @property
    def timing(self) -> Mapping[str, str]:
        """The fields of a job that say when."""
        return {field: value for field in (*TIMES, "time_zone") if (value := getattr(self, field))}


class Schedule(TypedTool[ScheduleParameters]):
    """Jobs that run later."""

    name = "schedule"
    on_demand = True
    draft = CallDraft(kind="other", verb="Schedule", subject="name")
    description = (
        "Have a model do something later or regularly in this project (a reminder, a nightly test run), list such "
        "jobs, or remove one. A job runs in a session of its own, without this conversation and with nobody to ask: "
        "what needs a permission is refused. Its result is shown in this session."
    )
    parameters = ScheduleParameters

    def bind(self, parameters: ScheduleParameters, context: ToolContext) -> Invocation:
        """The invocation of one action."""
        return _Scheduling(parameters, schedules=context.needed(Schedules, otherwise="There are no schedules here."))


class _Scheduling(Invocation):
    def __init__(self, parameters: ScheduleParameters, *, schedules: Schedules) -> None:
        self._parameters = parameters
        self._schedules = schedules
        match parameters.action:
            case "list":
                title = "List the scheduled jobs"
            case "remove":
                title = f"Remove the scheduled job {shortened(parameters.name)}"
            case "add":
                when = ", ".join(f"{field} {value}" for field, value in parameters.timing.items())
                title = f"Schedule {shortened(parameters.name)}: {shortened(when)}"
        self.view = CallView(title=title, kind="other")
        if parameters.action != "list":
            self.accesses = (ActsLater(job=parameters.name),)

    async def preview(self) -> tuple[ToolContent, ...]:
        return (fenced(self._parameters.prompt),) if self._parameters.action == "add" else ()

    async def run(self) -> ToolResult:
        try:
            return ToolResult(parts=(TextPart(text=await self._done()),))
        except ClawError as error:
            raise ToolError(error.message) from error

    async def _done(self) -> str:
        parameters = self._parameters
        match parameters.action:
            case "add":
                return await self._schedules.add(
                    parameters.name, prompt=parameters.prompt, timing=dict(parameters.timing)
                )
            case "remove":
                await self._schedules.remove(parameters.name)
                return f"{parameters.name} is removed."
            case "list":
                jobs = await self._schedules.jobs()
                lines = [f"- {job.name}: {job.timing}; {job.next_time}: {shortened(job.prompt)}" for job in jobs]
                return "\n".join(lines) or "There are no jobs in this project."
