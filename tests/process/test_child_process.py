"""The one room in which programs are started: what they get, how they end, and that nothing of them stays behind."""

import os
import signal
import sys
from pathlib import Path
from threading import Thread

import anyio
import pytest

from claw_acp.core.value import replace
from claw_acp.process.blocking import OUTPUT_LIMIT, BlockingChild
from claw_acp.process.child_process import running_child, start_child
from claw_acp.process.groups import live_groups
from claw_acp.process.launch import Launch
from claw_acp.process.output_tail import OutputTail
from tests.providers.binary.support import gone, open_descriptors


@pytest.fixture(autouse=True)
def _watched() -> None:
    """The watchdog, once it runs, holds a descriptor of ours."""
    BlockingChild(["true"]).finish(within=20)


SLEEPER = ["/bin/sh", "-c", "sleep 1000 & echo $!; exec sleep 1000"]
MORE_THAN_A_PIPE = 1_000_000

KILLED = """
import os, signal, sys
from threading import Thread
import anyio
from claw_acp.process.blocking import BlockingChild
from claw_acp.process.child_process import start_child
from claw_acp.process.groups import live_groups
LINE = ["/bin/sh", "-c", "echo $$ >> born; exec sleep 1000"]
def born(count):
    while not os.path.exists("born") or len(open("born").read().split()) < count or len(live_groups()) < count:
        pass
async def main():
    await start_child(LINE, stdin="pipe")
    await start_child(LINE, stdin="null", stdout="null", stderr="null")
    Thread(target=lambda: BlockingChild(LINE).finish(within=1000), daemon=True).start()
    await anyio.to_thread.run_sync(born, 3)
    os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""


async def test_whatever_way_it_was_started_no_program_outlives_an_agent_that_is_killed(tmp_path: Path) -> None:
    ended = await anyio.run_process([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGKILL, b"")
    for pid in map(int, (tmp_path / "born").read_text().split()):
        await gone(pid)


async def test_a_program_gets_our_environment_without_our_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("EDITOR_OF_MINE", "ed")
    async with running_child(["env"]) as child:
        assert child.stdout is not None
        printed = b"".join([chunk async for chunk in child.stdout]).decode()
    assert "EDITOR_OF_MINE=ed" in printed
    assert "sk-ant" not in printed


async def test_a_program_that_leaves_when_its_input_ends_is_not_signalled(tmp_path: Path) -> None:
    script = "trap 'echo told >> said' TERM; cat > /dev/null; exit 3"
    child = await start_child(["/bin/sh", "-c", script], cwd=tmp_path, stdin="pipe", stdout="null", stderr="null")
    await child.end(leave=20)
    assert (child.exit_code, (tmp_path / "said").exists()) == (3, False)


async def test_a_program_is_asked_to_end_before_it_is_killed() -> None:
    child = await start_child(["/bin/sh", "-c", "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"])
    assert child.stdout is not None
    assert await child.stdout.receive() == b"up\n"
    await child.end(terminate=20)
    assert child.exit_code == 7


@pytest.mark.parametrize("end", ["polite", "cancelled", "closed"])
async def test_all_that_a_program_started_ends_with_it(end: str) -> None:
    before = open_descriptors()
    child = await start_child(SLEEPER, stdin="pipe")
    assert child.pid in live_groups()
    assert child.stdout is not None
    other = int(await child.stdout.receive())
    match end:
        case "polite":
            await child.end()
        case "cancelled":
            with anyio.CancelScope() as scope:
                scope.cancel()
                await child.end(leave=1000)
        case _:
            child.close()
    await gone(child.pid)
    await gone(other)
    assert child.pid not in live_groups()
    await child.wait()
    assert open_descriptors() == before


async def test_what_is_left_behind_holds_the_output_open_for_a_bounded_time() -> None:
    async with running_child(["/bin/sh", "-c", "sleep 1000 & echo up"]) as child, anyio.create_task_group() as tasks:
        assert child.stdout is not None
        assert await child.stdout.receive() == b"up\n"
        tasks.start_soon(child.drain_stderr, OutputTail(limit=0).add)
        await child.wait_for_output(within=0.01)
        assert child.exit_code == 0
        assert not child.stdout.hung_up
        tasks.cancel_scope.cancel()


async def test_all_that_is_sent_arrives_in_order_however_slowly_it_is_read() -> None:
    child = await start_child(["/bin/sh", "-c", "sleep 0.01; exec cat"], stdin="pipe")
    pieces = [bytes([65 + index]) * MORE_THAN_A_PIPE for index in range(3)]
    heard = b""

    async def send() -> None:
        assert child.stdin is not None
        for piece in pieces:
            await child.stdin.send(piece)
        child.stdin.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        assert child.stdout is not None
        async for data in child.stdout:
            heard += data
    assert heard == b"".join(pieces)
    await child.end(leave=20)
    assert child.exit_code == 0


async def test_closing_wakes_whoever_reads_or_writes() -> None:
    child = await start_child(["sleep", "1000"], stdin="pipe")

    async def read() -> None:
        assert child.stdout is not None
        with pytest.raises(anyio.ClosedResourceError):
            await child.stdout.receive()

    async def write() -> None:
        assert child.stdin is not None
        with pytest.raises(anyio.ClosedResourceError):
            await child.stdin.send(b"x" * MORE_THAN_A_PIPE)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        child.close()
    await child.wait()


async def test_a_sandbox_stands_around_every_program(tmp_path: Path) -> None:
    def marked(launch: Launch) -> Launch:
        return replace(launch, argv=("/bin/sh", "-c", 'echo "in $PWD"; exec "$@"', "sh", *launch.argv), cwd=tmp_path)

    async with running_child(["echo", "me"], sandbox=marked) as child:
        assert child.stdout is not None
        assert b"".join([chunk async for chunk in child.stdout]).decode() == f"in {tmp_path}\nme\n"
    assert BlockingChild(["echo", "me"], sandbox=marked).finish(within=20).stdout == f"in {tmp_path}\nme\n".encode()


def test_a_thread_s_program_can_be_ended_from_another_and_leaves_nothing_behind() -> None:
    before = open_descriptors()
    child = BlockingChild(SLEEPER)
    other = Thread(target=child.kill)
    other.start()
    ended = child.finish(within=20)
    other.join()
    assert ended.code == -signal.SIGKILL
    with pytest.raises(TimeoutError):
        BlockingChild(SLEEPER).finish(within=0.1)
    assert not live_groups()
    assert open_descriptors() == before


def test_of_what_a_thread_s_program_prints_the_beginning_is_kept() -> None:
    ended = BlockingChild(["/bin/sh", "-c", "yes | head -c 3000000; yes | head -c 3000000 >&2"]).finish(within=20)
    assert (ended.code, len(ended.stdout), len(ended.stderr)) == (0, OUTPUT_LIMIT, OUTPUT_LIMIT)


def test_what_a_thread_s_program_leaves_running_holds_up_nobody() -> None:
    ended = BlockingChild(["/bin/sh", "-c", "sleep 1000 & echo key"]).finish(within=20)
    assert ended.stdout == b"key\n"
    assert not live_groups()


async def test_a_program_that_is_not_there_leaves_no_descriptor() -> None:
    before = open_descriptors()
    with pytest.raises(FileNotFoundError):
        await start_child([f"{os.sep}nonexistent"], stdin="pipe")
    with pytest.raises(ValueError, match="null"):
        await start_child(["a\0b"], stdin="pipe")
    assert open_descriptors() == before
