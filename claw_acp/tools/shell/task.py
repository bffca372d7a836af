"""Commands that run in the background: the session's list of them, and the tools to read and end them."""

from dataclasses import dataclass
from typing import Final

import anyio

from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult, ToolState
from claw_acp.contracts.workspace import ProcessOutput, RunningProcess, ending
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.core.screen_text import readable
from claw_acp.tools.display import printable
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.tools.shell.text import clip, unseen

MAX_TASKS: Final = 16
"""Background commands of a session. When all are running another is refused; ended ones make room, oldest first."""

MAX_NEWS: Final = 1_000_000
"""Characters of new output in a result, of which the model sees a part if they are many."""

MAX_WAIT: Final = 60
"""Seconds `shell_output` may wait for a task."""

RELEASE_SECONDS: Final = 5.0
"""Seconds to release a command; an editor that owns the terminal may be slow to answer."""

_SHELF_KEY: Final = "shell.background"


@dataclass(slots=True, kw_only=True)
class BackgroundTask:
    """A command in the background; `seen` is the output that the model got last."""

    id: str
    line: str
    process: RunningProcess
    seen: str = ""

    async def news(self) -> tuple[str, ProcessOutput]:
        """The output since the last call, and all current facts."""
        output = await self.process.output()
        new = unseen(output.text, before=self.seen)
        self.seen = output.text
        return new, output


class BackgroundTasks:
    """The background commands of one session, kept on its state. Closing the session kills them."""

    def __init__(self) -> None:
        self._tasks: dict[str, BackgroundTask] = {}

    @classmethod
    def on(cls, state: ToolState) -> "BackgroundTasks":
        """The background commands of the session with this state."""
        tasks = state.get(_SHELF_KEY, cls)
        assert isinstance(tasks, cls)
        return tasks

    async def make_room(self) -> None:
        """Release the oldest ended task if the list is full.

        Raises:
            ToolError: All of them are still running.
        """
        if len(self._tasks) < MAX_TASKS:
            return
        for task in list(self._tasks.values()):
            if (await task.process.output()).exit is not None:
                await task.process.release()
                self._tasks.pop(task.id, None)
                return
        raise _too_many()

    def add(self, process: RunningProcess, *, line: str, clock: Clock) -> str:
        """Keep a command; returns its id.

        Raises:
            ToolError: The list is full; the command was not added.
        """
        if len(self._tasks) >= MAX_TASKS:
            raise _too_many()
        task = BackgroundTask(id=new_id("task", clock=clock), line=line, process=process)
        self._tasks[task.id] = task
        return task.id

    def find(self, task: str) -> BackgroundTask:
        """The task with this id.

        Raises:
            ToolError: There is none; the text lists the existing ones.
        """
        if task in self._tasks:
            return self._tasks[task]
        known = ", ".join(self._tasks) or "none was started in this session"
        raise ToolError(f"There is no background task {task}. Known: {known}.")

    async def aclose(self) -> None:
        """Kill all commands and release them, within `RELEASE_SECONDS`."""
        tasks, self._tasks = list(self._tasks.values()), {}
        with anyio.move_on_after(RELEASE_SECONDS, shield=True):
            async with anyio.create_task_group() as closing:
                for task in tasks:
                    closing.start_soon(task.process.release)


def _too_many() -> ToolError:
    return ToolError(f"{MAX_TASKS} background tasks are running; end one with shell_kill first.")


class OutputParameters(Parameters):
    """A background task, and the time to wait for it."""

    task: str = argument(min_length=1, description="Id of the task, as the shell tool gave it.")
    wait: float = argument(
        default=0, ge=0, le=MAX_WAIT, description="Seconds to wait for the task to end before looking; 0 looks at once."
    )


class ShellOutput(TypedTool[OutputParameters]):
    """Returns the output of a background task."""

    name = "shell_output"
    description = (
        "What a background task printed since you last looked, and whether it is still running or how it ended. "
        "To see a server come up, look again after a short `wait`."
    )
    parameters = OutputParameters

    def bind(self, parameters: OutputParameters, context: ToolContext) -> Invocation:
        """The invocation of one reading of output."""
        return _Look(parameters, task=BackgroundTasks.on(context.state).find(parameters.task))


class _Look(Invocation):
    def __init__(self, parameters: OutputParameters, *, task: BackgroundTask) -> None:
        self._wait = parameters.wait
        self._task = task
        self.view = CallView(title=f"Output of {_short(task.line)}", kind="read")

    async def run(self) -> ToolResult:
        """Wait if requested, then return new output."""
        if self._wait > 0:
            with anyio.move_on_after(self._wait):
                await self._task.process.wait()
        return _report(self._task, *await self._task.news())


class KillParameters(Parameters):
    """A background task."""

    task: str = argument(min_length=1, description="Id of the task, as the shell tool gave it.")


class ShellKill(TypedTool[KillParameters]):
    """Ends a background task."""

    name = "shell_kill"
    description = "End a background task and all it started. Its last output is returned."
    parameters = KillParameters

    def bind(self, parameters: KillParameters, context: ToolContext) -> Invocation:
        """The invocation of one kill."""
        return _Kill(BackgroundTasks.on(context.state).find(parameters.task))


class _Kill(Invocation):
    def __init__(self, task: BackgroundTask) -> None:
        self._task = task
        self.view = CallView(title=f"End {_short(task.line)}", kind="execute")

    async def run(self) -> ToolResult:
        """Kill it, then return its last output."""
        await self._task.process.kill()
        return _report(self._task, *await self._task.news())


def _report(task: BackgroundTask, new: str, output: ProcessOutput) -> ToolResult:
    status = "still running" if output.exit is None else ending(output.exit)
    shown = clip(readable(new), limit=MAX_NEWS).rstrip() or "(no new output)"
    raw = None if output.exit is None else {"exitCode": output.exit.code, "signal": output.exit.signal}
    return ToolResult(parts=(TextPart(text=f"{shown}\n\n[{task.id}: {status}]"),), raw=raw)


def _short(line: str, *, limit: int = 60) -> str:
    first = printable(line.strip().partition("\n")[0])
    return first if len(first) <= limit else f"{first[:limit]}…"
