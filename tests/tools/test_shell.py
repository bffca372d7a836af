"""The shell tools on real processes."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.tool import Progress, RunsCommand, ToolResult
from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput, RunningProcess
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.events import CommandContent, PartContent, TerminalContent, ToolContent
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import plain_lines
from claw_acp.core.value import replace
from claw_acp.process.groups import live_groups
from claw_acp.tools.shell.shell import MAX_OUTPUT, Shell
from claw_acp.tools.shell.task import MAX_TASKS, BackgroundTasks, ShellKill, ShellOutput
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.process_host import ProcessHost
from tests.support.tool_bench import Bench, said


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with ProcessHost(os.environ) as host:
        bench = Bench(LocalWorkspace([tmp_path], processes=host))
        with anyio.fail_after(30):
            yield bench
            await BackgroundTasks.on(bench.state).aclose()
        assert not live_groups(), "a command outlived its call and the session"


async def test_output_and_exit_code_come_back(bench: Bench) -> None:
    result = await bench.call(Shell(), command="echo out; echo err >&2")
    assert said(result) == "out\nerr\n\n[exit code 0]"
    assert not result.failed
    assert result.raw == {"exitCode": 0, "signal": None, "timedOut": False, "truncated": False}
    assert result.content is not None
    [shown] = result.content
    assert isinstance(shown, CommandContent)
    assert shown.terminal_id.startswith("term_")
    assert (shown.line, shown.cwd) == ("echo out; echo err >&2", str(bench.workspace.roots[0]))
    assert (shown.text, shown.running, shown.code, shown.signal) == ("out\nerr", False, 0, None)


async def test_a_command_that_fails_is_a_failed_result_with_its_output(bench: Bench) -> None:
    result = await bench.call(Shell(), command="echo broken; exit 3")
    assert result.failed
    assert said(result) == "broken\n\n[exit code 3]"


async def test_silence_is_said_in_words(bench: Bench) -> None:
    result = await bench.call(Shell(), command="true")
    assert said(result) == "(no output)\n\n[exit code 0]"
    assert _pictures(result.content) == [""]
    assert result.content is not None
    assert result.content[1:] == (PartContent(part=TextPart(text="exit code 0")),)


async def test_a_deadly_signal_is_named(bench: Bench) -> None:
    result = await bench.call(Shell(), command="kill -ABRT $$")
    assert (said(result), result.failed) == ("(no output)\n\n[killed by SIGABRT]", True)
    assert result.content is not None
    [shown, words] = result.content
    assert isinstance(shown, CommandContent)
    assert (shown.running, shown.code, shown.signal) == (False, None, "SIGABRT")
    assert words == PartContent(part=TextPart(text="killed by SIGABRT"))


def _pictures(content: Sequence[ToolContent] | None) -> list[str]:
    """What the terminals of ours in a content show."""
    return [item.text for item in content or () if isinstance(item, CommandContent)]


async def test_a_command_runs_in_the_first_root(bench: Bench, tmp_path: Path) -> None:
    await bench.call(Shell(), command="echo here > file")
    assert (tmp_path / "file").read_text() == "here\n"


async def test_a_command_that_takes_too_long_is_killed_and_its_output_kept(bench: Bench) -> None:
    result = await bench.call(Shell(), command="echo begun; sleep 1000", timeout=1.5)
    assert result.failed
    assert said(result) == "begun\n\n[timed out after 1.5 s and was killed]"
    assert not live_groups()


async def test_cancelling_kills_what_the_command_started(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_call, bench, "(exec > alive; echo up; sleep 1000) & wait")
        async with await anyio.open_file(tmp_path / "alive") as pipe:
            assert await pipe.readline() == "up\n"
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                assert await pipe.read() == "", "the pipe ends when nobody holds it any more"
    assert not live_groups()


async def _call(bench: Bench, command: str) -> None:
    await bench.call(Shell(), command=command)


async def test_a_command_that_was_cancelled_still_tells_what_it_printed(bench: Bench) -> None:
    invocation = bench.prepare(Shell(), command="echo begun; sleep 1000")
    assert await invocation.so_far() is None, "it has not begun"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(invocation.run)
        while _pictures(bench.news[-1].content if bench.news else ()) != ["begun"]:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    result = await invocation.so_far()
    assert result is not None
    assert said(result) == "begun\n\n[killed by SIGTERM]"
    assert result.content is not None
    [shown] = result.content
    assert isinstance(shown, CommandContent)
    assert (shown.text, shown.running, shown.signal) == ("begun", False, "SIGTERM")


async def test_what_a_command_leaves_behind_is_killed_with_it(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_call, bench, "(exec > alive 2>&1; echo up; sleep 1000) & true")
        async with await anyio.open_file(tmp_path / "alive") as pipe:
            await pipe.read()
    assert not live_groups()


async def test_long_output_is_whole(bench: Bench) -> None:
    text = await bench.text(Shell(), command="seq 100000")
    assert text == "\n".join(map(str, range(1, 100_001))) + "\n\n[exit code 0]"


async def test_of_a_flood_the_end_is_told_and_that_the_beginning_is_missing(bench: Bench) -> None:
    result = await bench.call(Shell(), command="yes | head -c 50M; echo last")
    text = said(result)
    assert text.startswith("[the beginning of the output was dropped]\n[… ")
    assert text.endswith("y\nlast\n\n[exit code 0]")
    assert len(text) < MAX_OUTPUT + 300
    assert isinstance(result.raw, dict)
    assert result.raw["truncated"] is True


async def test_the_person_sees_the_output_grow(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")

    async def let_go_when_seen(news: Progress) -> None:
        seen.extend(_pictures(news.content))
        if seen[-1]:
            await anyio.to_thread.run_sync((tmp_path / "go").write_text, "\n")

    seen: list[str] = []
    context = replace(bench.context(), progress=let_go_when_seen)
    result = await Shell().prepare({"command": "echo early; read < go; echo late"}, context).run()
    assert said(result) == "early\nlate\n\n[exit code 0]"
    assert seen == ["", "early"], "the end is told by the result"


async def test_the_person_is_asked_with_the_command_as_title(bench: Bench, tmp_path: Path) -> None:
    invocation = bench.prepare(Shell(), command="git status", description="See what changed")
    assert (invocation.view.title, invocation.view.kind) == ("git status", "execute")
    assert invocation.accesses == (RunsCommand(line="git status", cwd=bench.workspace.roots[0]),)
    assert await invocation.preview() == (PartContent(part=TextPart(text="The model says: `See what changed`")),)


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ("echo a\nrm -rf b", "echo a …"),
        ("x" * 300, "x" * 120 + " …"),
        ("echo \x1b[8mhidden\u202e", "echo \\x1b[8mhidden\\u202e …"),
        ("echo ```\nmake evil", "echo ``` …"),
    ],
)
async def test_what_a_title_cannot_show_is_in_the_preview(bench: Bench, command: str, title: str) -> None:
    invocation = bench.prepare(Shell(), command=command)
    assert invocation.view.title == title
    assert await invocation.preview() == (PartContent(part=TextPart(text=code_block(plain_lines(command)))),)


async def test_a_command_too_long_to_be_shown_is_refused_and_the_model_is_told_what_to_do(bench: Bench) -> None:
    with pytest.raises(ToolError, match=r"40,000 characters.*write_file"):
        await bench.prepare(Shell(), command="x" * 40_000).preview()


@pytest.mark.parametrize(
    "arguments", [{"command": ""}, {"command": "x", "timeout": 0}, {"command": "x", "timeout": 601}]
)
async def test_impossible_arguments_are_refused(bench: Bench, arguments: dict[str, str | int]) -> None:
    with pytest.raises(InvalidArguments):
        Shell().prepare(arguments, bench.context())


# ------------------------------------------------------------------ background


async def _background(bench: Bench, command: str) -> str:
    result = await bench.call(Shell(), command=command, background=True)
    assert isinstance(result.raw, dict)
    task = result.raw["task"]
    assert isinstance(task, str)
    assert task in said(result)
    return task


async def test_a_background_command_is_polled_for_what_is_new(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    task = await _background(bench, "echo one; read < go; echo two")
    first = ""
    while not first.startswith("one"):
        first = await bench.text(ShellOutput(), task=task)
    assert first == f"one\n\n[{task}: still running]"
    assert await bench.text(ShellOutput(), task=task) == f"(no new output)\n\n[{task}: still running]"
    await anyio.to_thread.run_sync((tmp_path / "go").write_text, "\n")
    assert await bench.text(ShellOutput(), task=task, wait=20) == f"two\n\n[{task}: exit code 0]"
    assert await bench.text(ShellOutput(), task=task) == f"(no new output)\n\n[{task}: exit code 0]"


async def test_waiting_for_a_background_command_ends_with_the_patience(bench: Bench) -> None:
    task = await _background(bench, "exec sleep 1000")
    assert (await bench.text(ShellOutput(), task=task, wait=0.05)).endswith("still running]")


async def test_a_background_command_can_be_killed(bench: Bench) -> None:
    task = await _background(bench, "exec sleep 1000")
    assert await bench.text(ShellKill(), task=task) == f"(no new output)\n\n[{task}: killed by SIGTERM]"
    assert not live_groups()


async def test_an_unknown_task_is_refused_with_those_there_are(bench: Bench) -> None:
    with pytest.raises(ToolError, match="none was started"):
        bench.prepare(ShellKill(), task="task_x")
    task = await _background(bench, "true")
    with pytest.raises(ToolError, match=task):
        bench.prepare(ShellOutput(), task="task_x")


async def test_more_background_commands_than_the_bound_are_refused_until_one_ends(bench: Bench) -> None:
    tasks = [await _background(bench, "exec sleep 1000") for _ in range(MAX_TASKS)]
    with pytest.raises(ToolError, match="16 background tasks are running"):
        await _background(bench, "exec sleep 1000")
    assert len(live_groups()) == MAX_TASKS
    await bench.call(ShellKill(), task=tasks[3])
    await _background(bench, "exec sleep 1000")
    with pytest.raises(ToolError, match="no background task"):
        bench.prepare(ShellOutput(), task=tasks[3])


async def test_closing_the_session_kills_background_commands(bench: Bench) -> None:
    for _ in range(3):
        await _background(bench, "trap '' TERM; while :; do sleep 1000; done")
    await BackgroundTasks.on(bench.state).aclose()
    assert not live_groups()


# ------------------------------------------------------------------ in the editor's terminal


class _EditorTerminal:
    """A program that an editor runs; what is asked of it is written down."""

    terminal_id = "term_1"

    def __init__(self, *, ends: ExitStatus | None) -> None:
        self.calls: list[str] = []
        self._exit = ends

    async def output(self) -> ProcessOutput:
        return ProcessOutput(text="in the terminal\n", truncated=False, exit=self._exit)

    async def wait(self) -> ExitStatus:
        self.calls.append("wait")
        if self._exit is None:
            await anyio.sleep_forever()
        assert self._exit is not None
        return self._exit

    async def changed(self, since: ProcessOutput) -> None:
        raise AssertionError(f"the editor shows what is new, nobody else: {since}")

    async def kill(self) -> None:
        self.calls.append("kill")

    def stop(self) -> bool:
        raise AssertionError("the editor stops it")

    async def release(self) -> None:
        await anyio.lowlevel.checkpoint()  # an editor is asked and answers
        self.calls.append("release")


class _TerminalWorkspace(LocalWorkspace):
    def __init__(self, root: Path, terminal: _EditorTerminal) -> None:
        super().__init__([root])
        self._terminal = terminal

    async def start(self, command: Command) -> RunningProcess:
        assert command.line == "make"
        return self._terminal


async def _in_terminal(tmp_path: Path, terminal: _EditorTerminal, *, patience: float = 60) -> tuple[Bench, ToolResult]:
    bench = Bench(_TerminalWorkspace(tmp_path, terminal))
    return bench, await bench.call(Shell(), command="make", timeout=patience)


_SHOWN = TerminalContent(terminal_id="term_1")


async def test_a_command_in_the_editors_terminal_is_shown_there(tmp_path: Path) -> None:
    terminal = _EditorTerminal(ends=ExitStatus(code=0))
    bench, result = await _in_terminal(tmp_path, terminal)
    assert bench.news == [Progress(content=(_SHOWN,))]
    assert result.content == (_SHOWN,)
    assert said(result) == "in the terminal\n\n[exit code 0]"
    assert terminal.calls == ["wait", "release"]


async def test_a_terminal_is_released_after_a_failure(tmp_path: Path) -> None:
    terminal = _EditorTerminal(ends=ExitStatus(code=2))
    _, result = await _in_terminal(tmp_path, terminal)
    assert result.content == (_SHOWN, PartContent(part=TextPart(text="exit code 2")))
    assert terminal.calls == ["wait", "release"]


async def test_a_terminal_is_killed_and_released_after_the_timeout(tmp_path: Path) -> None:
    terminal = _EditorTerminal(ends=None)
    _, result = await _in_terminal(tmp_path, terminal, patience=0.05)
    assert result.failed
    assert terminal.calls == ["wait", "kill", "release"]


async def test_a_terminal_is_released_when_cancelled(tmp_path: Path) -> None:
    terminal = _EditorTerminal(ends=None)
    with anyio.move_on_after(0.05):
        await _in_terminal(tmp_path, terminal)
    assert terminal.calls == ["wait", "release"]
