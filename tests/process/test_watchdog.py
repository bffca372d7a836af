"""What kills our commands when we are killed ourselves: real processes, real signals."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.workspace import Command
from claw_acp.process.watchdog import Watchdog
from claw_acp.workspace.process_host import ProcessHost
from tests.support.program.agent_process import eventually

SHELLS = [path for name in ("sh", "dash", "bash", "busybox", "ksh", "zsh") if (path := shutil.which(name))]

DYING = """
import os, signal, subprocess, sys
from claw_acp.process import groups
LINE = "sleep 1000 & echo $! >> born; exec sleep 1000"
shells = [subprocess.Popen(["/bin/sh", "-c", LINE], start_new_session=True, stdout=subprocess.DEVNULL) for _ in "123"]
for shell in shells:
    groups.track(shell.pid)
groups.forget(shells[1].pid)
while not os.path.exists("born") or len(open("born").read().split()) < 3:
    pass
print(*[shell.pid for shell in shells], flush=True)
os.kill(os.getpid(), getattr(signal, sys.argv[1]))
"""


def _stat(pid: int) -> list[str]:
    """State, parent, ... of a process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _runs(pid: int) -> bool:
    try:
        return _stat(pid)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _pipes() -> set[str]:
    """The pipes that this process has a hand on."""
    found: set[str] = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if (target := str(descriptor.readlink())).startswith("pipe:"):
                found.add(target)
    return found


def _readers(pipe: str) -> list[int]:
    """Other processes whose stdin is that pipe."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdecimal() and str((process / "fd/0").readlink()) == pipe:
                found.append(int(process.name))
    return found


class _Kennel:
    """A watchdog of a test, and what it watches."""

    def __init__(self, shell: str) -> None:
        self.dog = Watchdog(shell=shell)
        self.groups: list[int] = []
        self._others = _pipes()
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self) -> int:
        """A group that the watchdog is told of."""
        child = subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & sleep 1000"], start_new_session=True)
        self._children.append(child)
        self.dog.began(child.pid, others=frozenset(self.groups))
        self.groups.append(child.pid)
        return child.pid

    def end(self, group: int) -> None:
        """The watchdog is told that this group is gone."""
        self.dog.ended(group)
        self.groups.remove(group)

    def pipe(self) -> str:
        """The pipe to the watchdog."""
        [pipe] = _pipes() - self._others
        return pipe

    async def pid(self) -> int:
        """The watchdog's process."""
        readers: list[int] = []

        def alone() -> bool:
            readers[:] = _readers(self.pipe())
            return len(readers) == 1

        await eventually(alone, what="one watchdog")
        return readers[0]

    def hang_up(self) -> None:
        """Close our end of the pipe, as the kernel does when a process is killed."""
        for descriptor in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) == self.pipe():
                    os.close(int(descriptor.name))
                    return

    async def dead(self, group: int) -> None:
        """Wait for the end of a group's leader."""
        await eventually(lambda: not _runs(group), what=f"the end of group {group}")

    def clean(self) -> None:
        """Leave nothing behind."""
        for child in self._children:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait(10)
        if _pipes() - self._others:
            self.hang_up()


@pytest.fixture(params=SHELLS, ids=[Path(shell).name for shell in SHELLS])
def kennel(request: pytest.FixtureRequest) -> Iterator[_Kennel]:
    kennel = _Kennel(request.param)
    yield kennel
    kennel.clean()


@pytest.mark.parametrize("end", ["SIGKILL", "SIGSEGV", "SIGABRT"])
async def test_a_process_that_cannot_clean_up_takes_its_groups_along(tmp_path: Path, end: str) -> None:
    command = [sys.executable, "-c", DYING, end]
    result = await anyio.run_process(command, cwd=tmp_path, check=False, stderr=subprocess.DEVNULL)
    assert result.returncode == -getattr(signal, end)
    first, forgotten, last = (int(pid) for pid in result.stdout.split())
    behind = [int(pid) for pid in (tmp_path / "born").read_text().split()]
    await eventually(lambda: not _runs(first) and not _runs(last), what="the end of the watched groups")
    await eventually(lambda: sum(map(_runs, behind)) == 1, what="the end of what they left behind")
    assert _runs(forgotten), "its number might have been somebody else's"
    os.killpg(forgotten, signal.SIGKILL)


async def test_all_groups_die_with_us_but_those_that_had_ended(kennel: _Kennel) -> None:
    first, second, third, fourth = (kennel.start() for _ in range(4))
    kennel.end(first)
    kennel.end(third)
    await kennel.pid()
    kennel.hang_up()
    await kennel.dead(second)
    await kennel.dead(fourth)
    assert _runs(first)
    assert _runs(third)


async def test_signals_that_are_meant_for_us_do_not_end_the_watchdog(kennel: _Kennel) -> None:
    group = kennel.start()
    pid = await kennel.pid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):
        os.kill(pid, number)
    last = kennel.start()
    assert await kennel.pid() == pid
    kennel.hang_up()
    await kennel.dead(group)
    await kennel.dead(last)


async def test_a_watchdog_that_was_killed_is_replaced_and_the_new_one_knows_all(kennel: _Kennel) -> None:
    first = kennel.start()
    killed = await kennel.pid()
    os.kill(killed, signal.SIGKILL)
    await eventually(lambda: not _runs(killed), what="the end of the watchdog")
    kennel.end(first)  # nobody hears it
    kennel.groups.append(first)
    second = kennel.start()
    assert await kennel.pid() != killed
    kennel.hang_up()
    await kennel.dead(first)
    await kennel.dead(second)


async def test_a_watchdog_that_was_stopped_holds_nobody_up(kennel: _Kennel) -> None:
    kennel.start()
    pid = await kennel.pid()
    os.kill(pid, signal.SIGSTOP)
    for _ in range(20_000):
        kennel.dog.ended(4_194_303)
    os.kill(pid, signal.SIGKILL)


async def test_the_watchdog_is_nobodys_child_and_in_no_group_of_ours(kennel: _Kennel) -> None:
    kennel.start()
    pid = await kennel.pid()
    assert _stat(pid)[1] != str(os.getpid())
    assert os.getpgid(pid) != os.getpgid(0)
    assert os.getsid(pid) != os.getsid(0)


async def test_without_a_shell_commands_run_all_the_same(tmp_path: Path) -> None:
    before = _pipes()
    dog = Watchdog(shell=str(tmp_path / "missing"))
    for _ in range(2):
        dog.began(4_194_303, others=frozenset())
    dog.ended(4_194_303)
    assert _pipes() == before


async def test_commands_hold_no_end_of_the_pipe(tmp_path: Path) -> None:
    async with ProcessHost(os.environ) as host:
        process = await host.start(Command(line="true", cwd=tmp_path))
        await process.wait()
        ours = _pipes()
        process = await host.start(Command(line="readlink /proc/$$/fd/*", cwd=tmp_path))
        await process.wait()
        held = (await process.output()).text.split()
    assert held[0] == "/dev/null"
    assert not ours & set(held)


STARTING = """
import os, signal, subprocess, sys
from claw_acp.process import groups
launch = groups.announced(["/bin/sh", "-c", "echo $$ > born; sleep 1000"], names=["PATH"])
subprocess.Popen(launch.argv, stdin=launch.stdin, start_new_session=True, stdout=subprocess.DEVNULL)
while "wait" in sys.argv and not os.path.exists("born"):
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def _living_in(folder: Path) -> list[int]:
    """Processes whose directory is this one."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdecimal() and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("moment", ["at once", "wait"])
async def test_a_command_that_just_started_is_not_missed(tmp_path: Path, moment: str) -> None:
    result = await anyio.run_process([sys.executable, "-c", STARTING, moment], cwd=tmp_path, check=False)
    assert result.returncode == -signal.SIGKILL
    await eventually(lambda: not _living_in(tmp_path), what="the end of the command")


async def test_a_command_sees_nothing_of_how_it_was_started(tmp_path: Path) -> None:
    show = "cat; readlink /proc/$$/fd/0; tr '\\0' ' ' < /proc/$$/cmdline; echo; echo $0"
    async with ProcessHost(os.environ) as host:
        process = await host.start(Command(line=show, cwd=tmp_path))
        await process.wait()
    text = (await process.output()).text.splitlines()
    assert text[0] == "/dev/null"
    assert text[1].split()[1:] == ["-c", "--", *show.split()]
    assert text[2] == text[1].split()[0]


@pytest.mark.parametrize("name", ["BASH_FUNC_greet%%", "with.dot"])
async def test_variables_that_shells_do_not_pass_on_reach_the_command(tmp_path: Path, name: str) -> None:
    extra = {name: "() { echo hello; }"}
    async with ProcessHost(os.environ) as host:
        process = await host.start(Command(line="env", cwd=tmp_path, env=extra))
        await process.wait()
    text = (await process.output()).text
    assert any(line.startswith(f"{name}=") for line in text.splitlines())
