"""Running a shell command: wait for it and show its output, or leave it running in the background."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

import anyio

from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.program import Programs
from claw_acp.contracts.tool import (
    CallDraft,
    CallView,
    Invocation,
    Progress,
    Reach,
    RunsCommand,
    ToolContext,
    ToolResult,
)
from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput, RunningProcess, ending
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.events import CommandContent, PartContent, TerminalContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.markdown import code_block, code_span
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import plain_lines, printable
from claw_acp.core.screen_text import readable
from claw_acp.core.value import replace
from claw_acp.registry.reference import Ref
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.tools.shell.hindrance import never_began, with_hindrance
from claw_acp.tools.shell.program import ShellProgram
from claw_acp.tools.shell.task import RELEASE_SECONDS, BackgroundTasks
from claw_acp.tools.shell.text import clip

LOOK_ENVIRONMENT: Final[Ref[Callable[..., dict[str, str]]]] = Ref(
    "claw_acp.security.read_only.environment:look_environment"
)
"""By name, as the shell's parsers are loaded with the first command only."""

MAX_TIMEOUT: Final = 600
"""The longest time of a foreground command, in seconds."""

MAX_OUTPUT: Final = 1_000_000
"""Characters of output in a result. Of a large result the model sees a part, and may read the rest."""

MAX_SHOWN: Final = 32_768
"""Characters of a command in a question."""

_REACHES: Final[Mapping[str, Reach]] = {"default": "project", "network": "network", "off": "machine"}
_MAX_TITLE: Final = 120  # characters
_HOW_TO: Final = "See what it prints with shell_output, end it with shell_kill."


class ShellParameters(Parameters):
    """A command line and the time limit."""

    command: str = argument(min_length=1, description="Command line for bash, run in the session's directory.")
    timeout: float = argument(
        default=60, gt=0, le=MAX_TIMEOUT, description="Seconds after which the command is killed (foreground only)."
    )
    background: bool = argument(
        default=False,
        description="Return at once with a task id and let the command run, for servers and watchers. "
        "See its output with shell_output, end it with shell_kill.",
    )
    sandbox: Literal["default", "network", "off"] = argument(
        default="default",
        description="Only if a command cannot work in the sandbox: `network`, or `off` for other programs, keys, "
        "containers, git remotes or settings. A person is asked.",
    )
    description: str | None = argument(
        default=None,
        max_length=200,
        description="What the command is for, in a few words, for the person who is asked.",
    )


class Shell(TypedTool[ShellParameters]):
    """Runs a command line in the workspace."""

    name = "shell"
    draft = CallDraft(kind="execute", verb="Run", subject="command")
    description = (
        "Run a command line with bash in the session's directory and get its output (stdout and stderr as they came) "
        "and exit code. Each call is a new shell: `cd` and variables do not last. Nothing can be typed into it: stdin "
        "is empty, and there is no terminal. When the shell ends, what it left running with `&` is killed: use "
        "`background` for that. Of long output the beginning and the end are kept. "
        "In a sandbox, commands change the project and a /tmp of their own, and have no network. "
        "Prefer the tools for reading, searching and editing files where they fit."
    )
    parameters = ShellParameters
    essential = True

    def bind(self, parameters: ShellParameters, context: ToolContext) -> Invocation:
        """The invocation of one command."""
        return CommandRun(parameters, context=context)


class CommandRun(Invocation):
    """One run of a command line; other tools that stand for one give it a view of their own."""

    def __init__(self, parameters: ShellParameters, *, context: ToolContext, view: CallView | None = None) -> None:
        self._parameters = parameters
        self._context = context
        self._programs = context.port(Programs) or Programs()
        self._cwd = context.workspace.roots[0]
        self._process: RunningProcess | None = None
        self._program: ShellProgram | None = None
        self.view = view or CallView(title=_title(parameters.command.strip(" \t\n")), kind="execute")
        reach, stays = _REACHES[parameters.sandbox], parameters.background
        self.accesses = (RunsCommand(line=parameters.command, cwd=self._cwd, reach=reach, stays=stays),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The whole command if the title cannot show it, and the model's description of its purpose."""
        line, purpose = self._parameters.command.strip(" \t\n"), self._parameters.description
        if len(line) > MAX_SHOWN:
            raise ToolError(
                f"The command has {len(line):,} characters. A person must agree to it, and is shown at most "
                f"{MAX_SHOWN:,}. Write the long part into a file with write_file, and use that."
            )
        shown = () if self.view.title == line else (PartContent(part=TextPart(text=code_block(plain_lines(line)))),)
        if not purpose:
            return shown
        return (*shown, PartContent(part=TextPart(text=f"The model says: {code_span(purpose)}")))

    async def run(self) -> ToolResult:
        """Start the command; wait for it unless it should stay in the background."""
        if self._parameters.background:
            await BackgroundTasks.on(self._context.state).make_room()
        line = self._parameters.command
        environment = LOOK_ENVIRONMENT.load()(line, inherited=current_environment())
        command = Command(line=line, cwd=self._cwd, env=environment, sandbox=self._context.port(CommandSandbox))
        result = await self._start(command)
        if command.sandbox is not None and never_began(result):
            result = await self._start(command)
        return result

    async def _start(self, command: Command) -> ToolResult:
        process = self._process = await self._context.workspace.start(command)
        if process.terminal_id is None:
            self._program = ShellProgram(process, line=command.line, cwd=self._cwd, clock=self._context.clock)
        kept = False
        try:
            if not self._parameters.background:
                return await self._wait(process)
            result = await self._leave_behind(process)
            kept = True
            return result
        finally:
            if not kept:
                with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                    await process.release()

    async def so_far(self) -> ToolResult | None:
        """The output of a command here until it was cancelled.

        That of one in an editor's terminal cannot be read any more.
        """
        if self._process is None or self._program is None:
            return None
        output = await self._process.output()
        status = output.exit
        ended = "not ended" if status is None else ending(status)
        shown = self._program.ended(output)
        return replace(_result(output, shown=shown, status=status, ended=ended), content=(shown,))

    async def _leave_behind(self, process: RunningProcess) -> ToolResult:
        """Leave the command running as a task of the session; its terminal is followed."""
        if self._program is not None:
            with self._programs.running(self._program):
                await self._context.progress(Progress(content=(self._program.snapshot,)))
        tasks = BackgroundTasks.on(self._context.state)
        task = tasks.add(process, line=self._parameters.command, clock=self._context.clock)
        if self._program is not None:
            self._programs.keep(self._program)
        note = TextPart(text=f"Running in the background as {task}. {_HOW_TO}")
        shown: tuple[ToolContent, ...] = (self._shown(process),)
        if self._program is not None:
            shown = (*shown, PartContent(part=note))  # our terminals cannot be seen everywhere
        return ToolResult(parts=(note,), content=shown, raw={"task": task})

    async def _wait(self, process: RunningProcess) -> ToolResult:
        status: ExitStatus | None = None
        sandbox = self._context.port(CommandSandbox)
        with anyio.move_on_after(self._parameters.timeout) as limit:
            if sandbox is not None and sandbox.network is not None:
                sandbox.network.limits.append(limit)
            status = await self._watched(process)
        if status is None:
            await process.kill()
            ended = f"timed out after {self._parameters.timeout:g} s and was killed"
        else:
            ended = ending(status)
        output = await process.output()
        shown = self._shown(process) if self._program is None else self._program.ended(output)
        result = _result(output, shown=shown, status=status, ended=ended, timed_out=status is None)
        return result if sandbox is None else with_hindrance(result, output.text, sandbox)

    async def _watched(self, process: RunningProcess) -> ExitStatus:
        """Wait for the end while the person sees it run: in the editor's terminal, or in one of ours."""
        if self._program is None:
            await self._context.progress(Progress(content=(self._shown(process),)))
        else:
            with self._programs.running(self._program):
                await self._context.progress(Progress(content=(self._program.snapshot,)))
                while (snapshot := await self._program.next_snapshot()).running:
                    await self._context.progress(Progress(content=(snapshot,)))
        return await process.wait()

    def _shown(self, process: RunningProcess) -> ToolContent:
        if self._program is not None:
            return self._program.snapshot
        assert process.terminal_id is not None
        return TerminalContent(terminal_id=process.terminal_id)


def _title(line: str) -> str:
    """The first line of a command, with an ellipsis if there is more."""
    first = printable(line.partition("\n")[0])
    return first if first == line and len(first) <= _MAX_TITLE else f"{first[:_MAX_TITLE].rstrip()} …"


def _result(
    output: ProcessOutput, *, shown: ToolContent, status: ExitStatus | None, ended: str, timed_out: bool = False
) -> ToolResult:
    text = readable(output.text)
    visible = clip(text, limit=MAX_OUTPUT, tail_only=output.truncated).rstrip() or "(no output)"
    if output.truncated:
        visible = f"[the beginning of the output was dropped]\n{visible}"
    failed = status is None or status.code != 0
    content: tuple[ToolContent, ...] = (shown,)
    if failed or (isinstance(shown, CommandContent) and not shown.text):
        content = (shown, PartContent(part=TextPart(text=ended)))
    raw: JsonObject = {
        "exitCode": None if status is None else status.code,
        "signal": None if status is None else status.signal,
        "timedOut": timed_out,
        "truncated": output.truncated,
    }
    return ToolResult(parts=(TextPart(text=f"{visible}\n\n[{ended}]"),), content=content, raw=raw, failed=failed)
