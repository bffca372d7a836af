"""Running a shell command: wait for it and show what it prints, or leave it running in the background."""

from typing import Final

import anyio
from pydantic import Field

from claw_acp.contracts.tool import CallView, Invocation, Progress, RunsCommand, ToolContext, ToolResult
from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput, RunningProcess
from claw_acp.core.events import PartContent, TerminalContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import MAX_SHOWN_TEXT, fenced, printable
from claw_acp.tools.parameters import Parameters, TypedTool
from claw_acp.tools.shell_task import RELEASE_SECONDS, BackgroundTasks
from claw_acp.tools.shell_text import clip, ending, readable

MAX_TIMEOUT: Final = 600
"""Seconds a foreground command may take at most."""

MAX_OUTPUT: Final = 30_000
"""Characters of output the model gets."""

PROGRESS_SECONDS: Final = 0.25
"""The least time between two pictures of a running command; people read no faster."""

_MAX_TITLE: Final = 120  # characters
_MARGIN: Final = 200  # characters of a shown block that a note about what was left out may take


class ShellParameters(Parameters):
    """A command line and how long to wait for it."""

    command: str = Field(min_length=1, description="Command line for bash, run in the session's directory.")
    timeout: float = Field(
        default=60, gt=0, le=MAX_TIMEOUT, description="Seconds after which the command is killed (foreground only)."
    )
    background: bool = Field(
        default=False,
        description="Return at once with a task id and let the command run, for servers and watchers. "
        "See its output with shell_output, end it with shell_kill.",
    )
    description: str | None = Field(
        default=None,
        max_length=200,
        description="What the command is for, in a few words, for the person who is asked.",
    )


class Shell(TypedTool[ShellParameters]):
    """Runs a command line in the workspace."""

    name = "shell"
    description = (
        "Run a command line with bash in the session's directory and get its output (stdout and stderr as they came) "
        "and exit code. Each call is a new shell: `cd` and variables do not last. Nothing can be typed into it: stdin "
        "is empty, and there is no terminal. When the shell ends, what it left running with `&` is killed: use "
        "`background` for that. Of long output the beginning and the end are kept. "
        "Prefer the tools for reading, searching and editing files where they fit."
    )
    parameters = ShellParameters

    def bind(self, parameters: ShellParameters, context: ToolContext) -> Invocation:
        """One run of a command."""
        return _Run(parameters, context=context)


class _Run(Invocation):
    def __init__(self, parameters: ShellParameters, *, context: ToolContext) -> None:
        self._parameters = parameters
        self._context = context
        self._cwd = context.workspace.roots[0]
        self.view = CallView(title=_title(parameters.command.strip()), kind="execute")
        self.accesses = (RunsCommand(line=parameters.command, cwd=self._cwd),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The whole command where the title cannot show it, and what it is for."""
        line, purpose = self._parameters.command.strip(), self._parameters.description
        shown: tuple[ToolContent, ...] = (PartContent(part=TextPart(text=purpose)),) if purpose else ()
        if self.view.title != line:
            shown = (*shown, fenced(line))
        return shown

    async def run(self) -> ToolResult:
        """Start the command; wait for it unless it is to stay in the background."""
        tasks = BackgroundTasks.on(self._context.shelf)
        if self._parameters.background:
            await tasks.make_room()
        process = await self._context.workspace.start(Command(line=self._parameters.command, cwd=self._cwd))
        kept = False
        try:
            if self._parameters.background:
                task = tasks.add(process, line=self._parameters.command, clock=self._context.clock)
                kept = True
                return _started(task, process)
            return await self._wait(process)
        finally:
            if not kept:
                with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                    await process.release()

    async def _wait(self, process: RunningProcess) -> ToolResult:
        status: ExitStatus | None = None
        with anyio.move_on_after(self._parameters.timeout):
            status = await self._watched(process)
        if status is not None:
            return _result(await process.output(), process=process, status=status, ended=ending(status))
        await process.kill()
        ended = f"timed out after {self._parameters.timeout:g} s and was killed"
        return _result(await process.output(), process=process, status=None, ended=ended)

    async def _watched(self, process: RunningProcess) -> ExitStatus:
        """Wait for the end while the person sees it run: in the editor's terminal, else by pictures of the output."""
        if process.terminal_id is not None:
            await self._context.progress(Progress(content=(TerminalContent(terminal_id=process.terminal_id),)))
            return await process.wait()
        shown = ""
        while True:
            with anyio.move_on_after(PROGRESS_SECONDS):
                return await process.wait()
            text = (await process.output()).text[-2 * MAX_SHOWN_TEXT :]
            if text != shown:
                await self._context.progress(Progress(content=(_block(text, tail_only=True),)))
                shown = text


def _title(line: str) -> str:
    """The first line of a command; an ellipsis tells that there is more."""
    first = printable(line.partition("\n")[0])
    return first if first == line and len(first) <= _MAX_TITLE else f"{first[:_MAX_TITLE].rstrip()} …"


def _started(task: str, process: RunningProcess) -> ToolResult:
    note = f"Running in the background as {task}. See what it prints with shell_output, end it with shell_kill."
    terminal = process.terminal_id
    content = None if terminal is None else (TerminalContent(terminal_id=terminal),)
    return ToolResult(parts=(TextPart(text=note),), content=content, raw={"task": task})


def _result(output: ProcessOutput, *, process: RunningProcess, status: ExitStatus | None, ended: str) -> ToolResult:
    text = readable(output.text)
    told = clip(text, limit=MAX_OUTPUT, tail_only=output.truncated).rstrip() or "(no output)"
    if output.truncated:
        told = f"[the beginning of the output was dropped]\n{told}"
    failed = status is None or status.code != 0
    if process.terminal_id is not None:
        shown: tuple[ToolContent, ...] = (TerminalContent(terminal_id=process.terminal_id),)
    else:
        shown = (_block(text, tail_only=output.truncated),) if text.strip() else ()
    if failed or not shown:
        shown = (*shown, PartContent(part=TextPart(text=ended)))
    raw: JsonObject = {
        "exitCode": None if status is None else status.code,
        "signal": None if status is None else status.signal,
        "timedOut": status is None,
        "truncated": output.truncated,
    }
    return ToolResult(parts=(TextPart(text=f"{told}\n\n[{ended}]"),), content=shown, raw=raw, failed=failed)


def _block(text: str, *, tail_only: bool) -> ToolContent:
    return fenced(clip(readable(text), limit=MAX_SHOWN_TEXT - _MARGIN, tail_only=tail_only).rstrip())
