"""Waiting without polling: for a moment, for a file, for the lease that another process holds."""

import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.schedule.lease import CHANGES, LEASE, Lease
from claw_acp.schedule.wake import SystemWake

BOUND = 20.0
HOLDER = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def _holder(directory: Path) -> subprocess.Popen[bytes]:
    """A process that holds the lease of a directory."""
    directory.mkdir()
    command = [sys.executable, "-I", "-S", "-c", HOLDER, str(directory / LEASE)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    return holder


def _end(holder: subprocess.Popen[bytes]) -> None:
    holder.kill()
    holder.communicate()


async def test_a_lease_passes_to_the_next_process_the_moment_its_holder_is_killed(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "schedule")
    holder = _holder(lease.directory)
    assert lease.held
    taken = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def take() -> None:
            async with lease.holding():
                taken.set()

        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        assert not taken.is_set()
        _end(holder)
        with anyio.fail_after(BOUND):
            await taken.wait()
    assert not lease.held


async def test_whoever_gives_up_waiting_for_a_lease_does_not_get_it_later(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "schedule")
    holder = _holder(lease.directory)
    async with anyio.create_task_group() as tasks:

        async def take() -> None:
            async with lease.holding():
                raise AssertionError("it was given up")

        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    _end(holder)
    with anyio.fail_after(BOUND):
        async with lease.holding():
            assert lease.held


async def test_a_moment_is_waited_for_exactly(tmp_path: Path) -> None:
    async with SystemWake.opened([tmp_path / CHANGES], clock=SYSTEM_CLOCK) as wake:
        until = time.time() + 0.05
        with anyio.fail_after(BOUND):
            await wake.wait(until)
            assert time.time() >= until
            await wake.wait(until)  # one that has passed ends the wait at once


async def test_a_wait_ends_for_its_files_and_for_what_this_process_does(tmp_path: Path) -> None:
    file = tmp_path / "schedules.toml"
    elsewhere = tmp_path / "dotfiles"
    elsewhere.mkdir()
    linked = tmp_path / "linked.toml"
    linked.symlink_to(elsewhere / "real.toml")
    async with SystemWake.opened([file, linked, tmp_path / CHANGES], clock=SYSTEM_CLOCK) as wake:
        for change in (
            lambda: (elsewhere / "real.toml").write_text("x"),
            lambda: file.write_text("x"),
            lambda: (tmp_path / "new").write_text("y") and (tmp_path / "new").rename(file),
            file.unlink,
            Lease(tmp_path).tell_of_changes,
            wake.now,
        ):
            change()
            with anyio.fail_after(BOUND):
                await wake.wait(None)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a look is taken every minute")
async def test_other_files_do_not_end_a_wait(tmp_path: Path) -> None:
    async with SystemWake.opened([tmp_path / "schedules.toml"], clock=SYSTEM_CLOCK) as wake:
        ended = anyio.Event()
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                await wake.wait(None)
                ended.set()

            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            (tmp_path / "other.toml").write_text("x")
            await anyio.wait_all_tasks_blocked()
            assert not ended.is_set()
            tasks.cancel_scope.cancel()
