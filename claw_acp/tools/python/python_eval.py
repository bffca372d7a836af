"""Running a model's Python in a process of its own, which can reach no network and change nothing."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio

from claw_acp.contracts.launch import CommandSandbox, Confinement
from claw_acp.contracts.tool import CallDraft, CallView, EvaluatesCode, Invocation, ToolContext, ToolResult
from claw_acp.contracts.workspace import ending
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PartContent, ToolContent
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart
from claw_acp.core.screen_text import readable
from claw_acp.process.child_process import ChildProcess, exit_status, start_child
from claw_acp.sandbox.interpreter import bare_python
from claw_acp.tools.display import fenced, shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

MEMORY: Final = 1024**3  # bytes
LARGEST_FILE: Final = 64 * 1024**2  # bytes, where it may write at all
MOST_OUTPUT: Final = 30_000  # bytes; what comes after that is not waited for

_PROGRAM: Final = Path(__file__).with_name("evaluation.py")


class PythonParameters(Parameters):
    """Code."""

    code: str = argument(
        min_length=1,
        max_length=100_000,
        description="What it prints is returned, and the value of its last expression.",
    )
    timeout: int = argument(default=10, ge=1, le=120, description="Seconds it may take.")


class PythonEval(TypedTool[PythonParameters]):
    """Runs Python."""

    name = "python_eval"
    draft = CallDraft(kind="execute", verb="Run Python")
    description = (
        "Run Python with its standard library, to calculate or to analyse data: in a process of its own without "
        "network, packages and lasting variables, which can change no files. For the project's own Python use shell."
    )
    parameters = PythonParameters
    on_demand = True

    def bind(self, parameters: PythonParameters, context: ToolContext) -> Invocation:
        """The invocation of one run."""
        return _Evaluating(parameters, context=context)


class _Evaluating(Invocation):
    def __init__(self, parameters: PythonParameters, *, context: ToolContext) -> None:
        self._code = parameters.code
        self._timeout = parameters.timeout
        self._context = context
        self.view = CallView(title=f"Run Python: {shortened(parameters.code.strip())}", kind="execute")
        self.accesses = (EvaluatesCode(code=parameters.code),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The code."""
        return (PartContent(part=TextPart(text=code_block(self._code))),)

    async def run(self) -> ToolResult:
        """Run it to its end, or until its time or its room for output is used up."""
        sandbox = self._context.port(CommandSandbox)
        confinement = None if sandbox is None else sandbox.confine("us")
        try:
            child = await self._started(confinement, inside={} if sandbox is None else sandbox.env)
            try:
                return await self._watched(child)
            finally:
                await child.end(terminate=0)
        finally:
            if confinement is not None:
                confinement.release()

    async def _started(self, confinement: Confinement | None, *, inside: Mapping[str, str]) -> ChildProcess:
        limits = (self._timeout + 1, MEMORY, LARGEST_FILE)
        program = [bare_python(), "-I", "-S", "-B", str(_PROGRAM), *map(str, limits)]
        env = {**without_keys(current_environment()), **inside}
        cwd = self._context.workspace.roots[0]
        try:
            return await start_child(program, env=env, cwd=cwd, stdin="pipe", stderr="stdout", sandbox=confinement)
        except OSError as error:
            raise ToolError(f"Python could not be started: {error.strerror or error}.") from error

    async def _watched(self, child: ChildProcess) -> ToolResult:
        output = bytearray()
        code: int | None = None
        with anyio.move_on_after(self._timeout) as limit:
            await _feed(child, self._code)
            if await _read(child, output):
                code = await child.wait()
        text = readable(output[:MOST_OUTPUT].decode("utf-8", errors="replace")).rstrip()
        if code == 0:
            ended = ""
        elif code is not None:
            ended = f"[{ending(exit_status(code))}]"
        else:
            late = f"stopped after {self._timeout} s; ask for more with timeout"
            ended = f"[{late if limit.cancelled_caught else f'stopped after {MOST_OUTPUT:,} bytes of output'}]"
        shown = "\n".join(filter(None, (text, ended))) or "(it printed nothing)"
        return ToolResult(
            parts=(TextPart(text=shown),), content=(fenced(shown),), raw={"exitCode": code}, failed=code != 0
        )


async def _feed(child: ChildProcess, code: str) -> None:
    assert child.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it ended before: how is told
        await child.stdin.send(code.encode("utf-8", errors="replace"))
    child.stdin.close()


async def _read(child: ChildProcess, output: bytearray) -> bool:
    """Read what it prints; returns whether that was all."""
    assert child.stdout is not None
    async for chunk in child.stdout:
        output += chunk
        if len(output) > MOST_OUTPUT:
            return False
    return True
