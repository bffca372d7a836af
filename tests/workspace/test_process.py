"""Real commands: what they print, how they end, and that nothing of them stays behind."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput
from claw_acp.core.errors import ToolError
from claw_acp.process.child_process import exit_status
from claw_acp.process.groups import kill_all_groups, live_groups
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.process import DRAIN_SECONDS, LocalProcess
from claw_acp.workspace.process_host import ProcessHost

STUBBORN = "trap '' TERM; echo up; while :; do sleep 1000; done"


@pytest.fixture
async def host() -> AsyncIterator[ProcessHost]:
    async with ProcessHost(os.environ) as processes:
        yield processes
    assert not live_groups()


async def _finished(host: ProcessHost, line: str, tmp_path: Path, *, limit: int = 1_048_576) -> ProcessOutput:
    process = await host.start(Command(line=line, cwd=tmp_path, output_limit=limit))
    with anyio.fail_after(30):
        await process.wait()
    await process.release()
    return await process.output()


async def _until_printed(process: LocalProcess, text: str) -> str:
    with anyio.fail_after(10):
        while text not in (output := await process.output()).text:
            await anyio.lowlevel.checkpoint()
    return output.text


async def _gone(pid: int) -> None:
    """Wait until a process that is not our child is no longer running (a zombie of somebody else's does not run)."""
    with anyio.fail_after(10):
        while _runs(pid):
            await anyio.lowlevel.checkpoint()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_stdout_and_stderr_come_in_the_order_they_were_written(host: ProcessHost, tmp_path: Path) -> None:
    output = await _finished(host, "echo one; echo two >&2; echo three", tmp_path)
    text = "one\ntwo\nthree\n"
    ended = ExitStatus(code=0)
    assert output == ProcessOutput(text=text, truncated=False, exit=ended, printed=14, raw=text.encode())


async def test_the_exit_code_is_reported(host: ProcessHost, tmp_path: Path) -> None:
    assert (await _finished(host, "exit 7", tmp_path)).exit == ExitStatus(code=7)


async def test_a_deadly_signal_is_reported_by_name(host: ProcessHost, tmp_path: Path) -> None:
    assert (await _finished(host, "kill -SEGV $$", tmp_path)).exit == ExitStatus(signal="SIGSEGV")


def test_a_real_time_signal_has_a_number_for_a_name() -> None:
    assert exit_status(-(signal.SIGRTMIN + 1)) == ExitStatus(signal=f"SIG{signal.SIGRTMIN + 1}")


async def test_a_command_runs_in_its_directory_with_bash(host: ProcessHost, tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    output = await _finished(host, 'ls; [[ -n $BASH_VERSION ]] && echo "bash"', tmp_path)
    assert output.text == "here\nbash\n"


async def test_a_line_that_begins_with_a_dash_is_a_command_not_an_option(host: ProcessHost, tmp_path: Path) -> None:
    output = await _finished(host, "-x; echo $?", tmp_path)
    assert output.text.endswith("127\n")


async def test_reading_stdin_ends_at_once(host: ProcessHost, tmp_path: Path) -> None:
    assert (await _finished(host, "cat; echo done", tmp_path)).text == "done\n"


async def test_bytes_that_are_not_utf8_are_replaced(host: ProcessHost, tmp_path: Path) -> None:
    assert (await _finished(host, r"printf 'a\xff\xe2\x82'", tmp_path)).text == "a\ufffd\ufffd"


async def test_of_a_flood_only_the_end_is_kept(host: ProcessHost, tmp_path: Path) -> None:
    output = await _finished(host, "yes | head -c 50000000; echo last", tmp_path, limit=1000)
    assert output.truncated
    assert len(output.text) == 1000
    assert output.text.endswith("y\nlast\n")


async def test_a_cut_falls_between_characters(host: ProcessHost, tmp_path: Path) -> None:
    output = await _finished(host, "printf '€%.0s' {1..100}", tmp_path, limit=100)
    assert (output.text, output.truncated) == ("€" * 33, True)


async def test_output_can_be_read_while_the_command_runs(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="echo early; exec sleep 1000", cwd=tmp_path))
    assert await _until_printed(process, "early\n") == "early\n"
    assert (await process.output()).exit is None
    await process.release()


async def test_who_waits_for_something_new_wakes_when_it_is_printed_and_at_the_end(
    host: ProcessHost, tmp_path: Path
) -> None:
    for gate in ("first", "second"):  # two: who still writes to the first would end the second wait as well
        os.mkfifo(tmp_path / gate)
    process = await host.start(Command(line="echo one; read < first; echo two; read < second", cwd=tmp_path))
    output = ProcessOutput(text="", truncated=False, exit=None)
    with anyio.fail_after(10):
        for text, gate in (("one\n", "first"), ("one\ntwo\n", "second")):
            await process.changed(output)
            output = await process.output()
            assert (output.text, output.exit) == (text, None)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(process.changed, output)
                await anyio.wait_all_tasks_blocked()
                await anyio.to_thread.run_sync((tmp_path / gate).write_text, "\n")
        await process.changed(await process.output())
        assert (await process.output()).exit == ExitStatus(code=0)


async def test_nothing_new_is_nothing_to_wake_for(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="echo one; sleep 1000", cwd=tmp_path))
    await _until_printed(process, "one\n")
    with anyio.move_on_after(0.05) as patience:
        await process.changed(await process.output())
    assert patience.cancelled_caught
    await process.release()


@pytest.mark.parametrize(
    ("line", "signal_name"),
    [("echo up; exec sleep 1000", "SIGTERM"), (STUBBORN, "SIGKILL")],
    ids=["polite", "stubborn"],
)
async def test_stopping_returns_at_once_and_the_group_ends_soon(
    host: ProcessHost, tmp_path: Path, line: str, signal_name: str
) -> None:
    process = await host.start(Command(line=line, cwd=tmp_path))
    await _until_printed(process, "up\n")
    assert process.stop()
    assert (await process.output()).exit is None
    with anyio.fail_after(10):
        assert await process.wait() == ExitStatus(signal=signal_name)
    assert not process.stop()
    assert not live_groups()


async def test_killing_ends_everything_the_command_started(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="sleep 1000 & echo $! go; wait", cwd=tmp_path))
    grandchild = int((await _until_printed(process, "go")).split()[0])
    await process.kill()
    assert (await process.output()).exit == ExitStatus(signal="SIGTERM")
    await _gone(grandchild)


async def test_a_command_that_ignores_the_polite_signal_is_killed_by_force(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="trap '' TERM; echo ready; while :; do sleep 1000; done", cwd=tmp_path))
    await _until_printed(process, "ready")
    await process.kill()
    assert (await process.wait()) == ExitStatus(signal="SIGKILL")
    assert (await process.output()).text.startswith("ready\n")


async def test_a_program_left_behind_that_holds_the_output_delays_the_end_but_does_not_prevent_it(
    host: ProcessHost, tmp_path: Path
) -> None:
    process = await host.start(Command(line="trap '' TERM; sleep 1000 & echo $!", cwd=tmp_path))
    with anyio.fail_after(DRAIN_SECONDS + 10):
        assert await process.wait() == ExitStatus(code=0)
    await _gone(int((await process.output()).text))


async def test_a_daemon_in_a_session_of_its_own_does_not_hold_up_the_end(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="setsid sleep 1000 & echo $!", cwd=tmp_path))
    with anyio.fail_after(DRAIN_SECONDS + 10):
        await process.wait()
    os.kill(int((await process.output()).text), signal.SIGKILL)


async def test_what_a_left_behind_program_prints_shortly_after_is_still_seen(host: ProcessHost, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    output = await _finished(host, "(read < go; echo late) & exec echo > go", tmp_path)
    assert output.text == "late\n"


async def test_killing_during_a_flood_keeps_the_output_readable(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="exec yes", cwd=tmp_path, output_limit=10_000))
    await _until_printed(process, "y\n")
    await process.kill()
    output = await process.output()
    assert output.exit == ExitStatus(signal="SIGTERM")
    assert set(output.text) == {"y", "\n"}


async def test_killing_and_releasing_again_does_nothing(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="echo here", cwd=tmp_path))
    await process.wait()
    await process.kill()
    await process.release()
    await process.release()
    assert (await process.output()).text == "here\n"
    assert process.terminal_id is None


async def test_a_cancelled_release_still_kills(host: ProcessHost, tmp_path: Path) -> None:
    process = await host.start(Command(line="exec sleep 1000", cwd=tmp_path))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await process.release()
    assert (await process.wait()) == ExitStatus(signal="SIGTERM")


async def test_a_start_that_is_cancelled_leaves_no_process(host: ProcessHost, tmp_path: Path) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await host.start(Command(line="exec sleep 1000", cwd=tmp_path))
    assert not live_groups()


async def test_leaving_the_host_kills_what_still_runs(tmp_path: Path) -> None:
    async with ProcessHost(os.environ) as host:
        process = await host.start(Command(line="trap '' TERM; echo $$ go; while :; do sleep 1000; done", cwd=tmp_path))
        leader = int((await _until_printed(process, "go")).split()[0])
    assert (await process.output()).exit == ExitStatus(signal="SIGKILL")
    assert not _runs(leader)
    with pytest.raises(ToolError, match="shutting down"):
        await host.start(Command(line="true", cwd=tmp_path))


async def test_an_exit_path_that_cannot_await_kills_all_groups(host: ProcessHost, tmp_path: Path) -> None:
    started = [await host.start(Command(line="exec sleep 1000", cwd=tmp_path)) for _ in range(3)]
    kill_all_groups()
    with anyio.fail_after(10):
        assert [await process.wait() for process in started] == [ExitStatus(signal="SIGKILL")] * 3


async def test_a_hundred_commands_leak_no_descriptor(host: ProcessHost, tmp_path: Path) -> None:
    await _finished(host, "true", tmp_path)  # whatever the event loop keeps for good is there now
    before = _open_descriptors()
    async with anyio.create_task_group() as tasks:
        for _ in range(100):
            tasks.start_soon(_finished, host, "echo hello", tmp_path)
    assert _open_descriptors() == before


@pytest.mark.parametrize(
    ("line", "directory", "message"),
    [("true", "missing", "cannot be started in .*missing"), ("a\0b", ".", "NUL")],
    ids=["missing directory", "NUL"],
)
async def test_a_command_that_cannot_start_says_why_and_leaks_nothing(
    host: ProcessHost, tmp_path: Path, line: str, directory: str, message: str
) -> None:
    before = _open_descriptors()
    with pytest.raises(ToolError, match=message):
        await host.start(Command(line=line, cwd=tmp_path / directory))
    assert _open_descriptors() == before


async def test_a_workspace_runs_commands_with_the_variables_given(host: ProcessHost, tmp_path: Path) -> None:
    workspace = LocalWorkspace([tmp_path], processes=host)
    process = await workspace.start(Command(line="echo $COLOUR", cwd=tmp_path, env={"COLOUR": "green"}))
    await process.wait()
    assert (await process.output()).text == "green\n"


async def test_a_workspace_without_a_host_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="runs no programs"):
        await LocalWorkspace([tmp_path]).start(Command(line="true", cwd=tmp_path))
